"""Time limits. A mutant at a place makes the limit three times as long; one at the door makes it the default."""

LIMITS = ["queue", "resolve", "connect", "tls", "write", "response", "read", "continue", "minimumSpeed", "total"]
PLACES = [
    ("queue", "", "Transport.firstFree", "|limits.call.timeouts.queue|", "PhaseLimitTests"),
    ("resolve", "of a resolver", "RoundTrip.resolvedRoute", "|call.timeouts.resolve|", "PhaseLimitTests"),
    ("resolve", "of the system", "Dialler.askSystem",
     "|limits.timeouts.resolve|", "PhaseLimitTests"),
    ("resolve", "of a fallback", "Dialler.next",
     "fallback(limits.deadline(.resolve, stall: |limits.timeouts.resolve|)", "PhaseLimitTests"),
    ("connect", "", "Connector.openSocket(of:)", "|limits.timeouts.connect|",
     "PhaseLimitTests"),
    ("connect", "of a Unix domain socket", "Connector.openSocket(to:)", "|limits.timeouts.connect|",
     "UnixSocketTests"),
    ("connect", "of a proxy's negotiation", "Dialler.openTunnel", "|limits.timeouts.connect|",
     "PhaseLimitTests"),
    ("tls", "", "Connector.secure", "over: socket, limits.deadline(.tls, stall: |limits.timeouts.tls|)", "PhaseLimitTests"),
    ("write", "of a body", "Upload.wait", "|exchange.timeouts.write|", "PhaseLimitTests"),
    ("write", "of a head", "Exchange.sendHead", "|timeouts.write|", "PhaseLimitTests"),
    ("write", "of a raw stream", "RawStream.init", "|timeouts.write|", "PhaseLimitTests"),
    ("response", "", "Exchange.receiveHead", "stall: |timeouts.response|, from: sent", "PhaseLimitTests"),
    ("response", "after an interim one", "Exchange.receiveHead",
     "restart(&deadline, stall: |timeouts.response|)", "PhaseLimitTests"),
    ("read", "of a head", "Exchange.receiveHead", "|timeouts.read|", "PhaseLimitTests"),
    ("read", "of a body", "BodyReading.next", "|exchange.timeouts.read|", "PhaseLimitTests"),
    ("continue", "", "Exchange.awaitContinue", "|timeouts.continue|", "PhaseLimitTests"),
    ("total", "", "Call.init", "|timeouts.total|", "PhaseLimitTests"),
]
SPEEDS = [
    ("of a head", "Exchange.receiveHead", "|timeouts.speed|"),
    ("of a response's body", "BodyReading.init", "|exchange.timeouts.speed|"),
    ("of a request's body", "Upload.init", "|exchange.timeouts.speed|"),
]


def add_to(table):
    table.door(
        "Timeouts",
        "Nanoseconds.init",
        "||",
        " let timeouts = mutated(timeouts)",
        {member: ("PhaseLimitTests", f"value.{swift_name(member)} = Timeouts().{swift_name(member)}") for member in LIMITS},
        value="Timeouts",
    )
    for member, place, where, at, suites in PLACES:
        piece = at.split("|")[1]
        name = f"Timeouts.{member} {place}".strip() + (" where it is read" if not place else "")
        tripled = f"IdleLimit(setByCaller: .nanoseconds(Int64(clamping: {piece}.nanoseconds &* 3)))"
        table.place(name, where, at, f"{piece} &* 3" if member == "total" else tripled, suites)
    for place, where, at in SPEEDS:
        table.place(f"Timeouts.minimumSpeed {place}", where, at, "Timeouts.Speed.Watch(nil)", "PhaseLimitTests")
    for member in LIMITS:
        value, wrong = {
            "minimumSpeed": ("Speed.Watch(timeouts.minimumSpeed)", "Speed.Watch(nil)"),
            "total": ("timeouts.total?.clampedNanoseconds ?? .max", "7"),
        }.get(member, (f"IdleLimit(setByCaller: timeouts.{member})", "IdleLimit(setByCaller: .nanoseconds(7))"))
        table.place(
            f"Timeouts.{member} in nanoseconds", "Timeouts.Nanoseconds.init", f"|{value}|", wrong, "TimeoutsTests",
        )
    table.place(
        "Timeouts.Speed.bytes", "Watch.init", "|speed?.bytes ?? 0|", "1",
        "PhaseLimitTests",
    )
    table.place(
        "Timeouts.Speed.time", "Watch.init", "|$0.time.clampedNanoseconds|",
        "$0.time.clampedNanoseconds &* 100", "PhaseLimitTests",
    )
    table.place("Timeouts.Speed.unlimited", "Timeouts.Speed.unlimited", "Speed(bytes: |0|", "1", "TimeoutsTests")


def swift_name(member):
    return "`continue`" if member == "continue" else member
