"""Time limits. A mutant at a place makes the limit three times as long; one at the door makes it the default."""

# Each member, and the name of its value in nanoseconds.
LIMITS = {
    "queue": "queue", "resolve": "resolve", "connect": "connect", "tls": "tls", "write": "write", "response": "response",
    "read": "read", "continue": "`continue`", "minimumSpeed": "speed", "total": "total",
}
PLACES = [
    ("queue", "", "Transport/Transport+Connecting.swift", "stall: |request.timeouts.queue|", "PhaseLimitTests"),
    ("resolve", "of a resolver", "Pipeline/RoundTrip.swift", "stall: |call.timeouts.resolve|", "PhaseLimitTests"),
    ("resolve", "of the system", "Dial/Dialler.swift",
     "let deadline = limits.deadline(.resolve, stall: |limits.timeouts.resolve|)", "PhaseLimitTests"),
    ("resolve", "of a fallback", "Dial/Dialler.swift",
     "fallback(limits.deadline(.resolve, stall: |limits.timeouts.resolve|)", "PhaseLimitTests"),
    ("connect", "", "Dial/Connector.swift", "waitUntilConnected(limits.deadline(.connect, stall: |limits.timeouts.connect|))",
     "PhaseLimitTests"),
    ("connect", "of a Unix domain socket", "Dial/Connector.swift", "let deadline = limits.deadline(.connect, stall: |limits.timeouts.connect|)",
     "UnixSocketTests"),
    ("connect", "of a proxy's negotiation", "Dial/Dialler+Proxy.swift", "deadline(.proxy, stall: |limits.timeouts.connect|)",
     "PhaseLimitTests"),
    ("tls", "", "Dial/Connector.swift", "limits.deadline(.tls, stall: |limits.timeouts.tls|)", "PhaseLimitTests"),
    ("write", "of a body", "Exchange/Upload.swift", "stall: |exchange.timeouts.write|", "PhaseLimitTests"),
    ("write", "of a head", "Exchange/Exchange.swift", "stall: |timeouts.write|", "PhaseLimitTests"),
    ("write", "of a raw stream", "Messages/RawStream.swift", "writeLimit = |timeouts.write|", "PhaseLimitTests"),
    ("response", "", "Exchange/Exchange.swift", "stall: |timeouts.response|, from: sent", "PhaseLimitTests"),
    ("response", "after an interim one", "Exchange/Exchange.swift",
     "restart(&deadline, stall: |timeouts.response|)", "PhaseLimitTests"),
    ("read", "of a head", "Exchange/Exchange.swift", "stall: |timeouts.read|", "PhaseLimitTests"),
    ("read", "of a body", "Exchange/BodyReading.swift", "stall: |exchange.timeouts.read|", "PhaseLimitTests"),
    ("continue", "", "Exchange/Exchange.swift", "stall: |timeouts.continue|", "PhaseLimitTests"),
    ("total", "", "Pipeline/Calls.swift", "start.advanced(byNanoseconds: |timeouts.total|)", "PhaseLimitTests"),
]
SPEEDS = [
    ("of a head", "Exchange/Exchange.swift", "ThroughputMonitor(|timeouts.speed|)"),
    ("of a response's body", "Exchange/BodyReading.swift", "ThroughputMonitor(|exchange.timeouts.speed|)"),
    ("of a request's body", "Exchange/Upload.swift", "ThroughputMonitor(|exchange.timeouts.speed|)"),
]


def add_to(table):
    table.door(
        "Timeouts",
        "Limits/Timeouts.swift",
        "fileprivate init(_ timeouts: Timeouts) {||",
        " let timeouts = mutated(timeouts)",
        {member: ("PhaseLimitTests", f"value.{swift_name(member)} = Timeouts().{swift_name(member)}") for member in LIMITS},
        value="Timeouts",
    )
    for member, place, file, at, suites in PLACES:
        piece = at.split("|")[1]
        name = f"Timeouts.{member} {place}".strip() + (" where it is read" if not place else "")
        table.place(name, file, at, f"{piece} &* 3", suites)
    for place, file, at in SPEEDS:
        table.place(f"Timeouts.minimumSpeed {place}", file, at, "Timeouts.Speed.Watch(nil)", "PhaseLimitTests")
    for member, word in LIMITS.items():
        is_speed = member == "minimumSpeed"
        value = "Speed.Watch(timeouts.minimumSpeed)" if is_speed else f"nanoseconds(timeouts.{member})"
        table.place(
            f"Timeouts.{member} in nanoseconds", "Limits/Timeouts.swift", f" {word} = |{value}|",
            "Speed.Watch(nil)" if is_speed else "7", "TimeoutsTests",
        )
    table.place(
        "Timeouts.Speed.bytes", "Limits/Timeouts.swift", "bytes = UInt64(max(0, |speed?.bytes ?? 0|))", "1",
        "PhaseLimitTests",
    )
    table.place(
        "Timeouts.Speed.time", "Limits/Timeouts.swift", "max(1_000_000, |$0.time.clampedNanoseconds|)",
        "$0.time.clampedNanoseconds &* 100", "PhaseLimitTests",
    )


def swift_name(member):
    return "`continue`" if member == "continue" else member
