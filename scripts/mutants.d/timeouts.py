"""Time limits. A mutant at a place makes the limit three times as long; one at the door makes it the default."""

# Each member, and the name of its value in nanoseconds.
LIMITS = {
    "queue": "queue", "resolve": "resolve", "connect": "connect", "tls": "tls", "write": "write", "response": "response",
    "read": "read", "continue": "`continue`", "minimumSpeed": "speed", "total": "total",
}
PLACES = [
    ("queue", "", "Pipeline/ClientCore.swift", "stall: |context.timeouts.queue|", "PhaseLimitTests"),
    ("resolve", "of a resolver", "Pipeline/ClientCore.swift", "stall: |timeouts.resolve|", "PhaseLimitTests"),
    ("resolve", "of the system", "Dial/Dialler.swift",
     "let deadline = limits.deadline(.resolve, stall: |limits.timeouts.resolve|)", "PhaseLimitTests"),
    ("resolve", "of a fallback", "Dial/Dialler.swift",
     "fallback(limits.deadline(.resolve, stall: |limits.timeouts.resolve|)", "PhaseLimitTests"),
    ("connect", "", "Dial/EstablishedTransport.swift", "limits.deadline(.connect, stall: |limits.timeouts.connect|)", "PhaseLimitTests"),
    ("connect", "of a proxy's conversation", "Dial/Dialler+Proxy.swift", "deadline(.proxy, stall: |limits.timeouts.connect|)",
     "PhaseLimitTests"),
    ("tls", "", "Dial/EstablishedTransport.swift", "limits.deadline(.tls, stall: |limits.timeouts.tls|)", "PhaseLimitTests"),
    ("write", "of a body", "Exchange/Upload.swift", "stall: |exchange.timeouts.write|", "PhaseLimitTests"),
    ("write", "of a head", "Exchange/Exchange.swift", "stall: |timeouts.write|", "PhaseLimitTests"),
    ("write", "of a raw stream", "Messages/RawStream.swift", "writeLimit = |timeouts.write|", "PhaseLimitTests"),
    ("response", "", "Exchange/Exchange.swift", "stall: |timeouts.response|, from: sent", "PhaseLimitTests"),
    ("response", "after an interim one", "Exchange/Exchange.swift",
     "stall: |timeouts.response|, from: connection.loop.now", "PhaseLimitTests"),
    ("read", "of a head", "Exchange/Exchange.swift", "stall: |timeouts.read|", "PhaseLimitTests"),
    ("read", "of a body", "Exchange/BodyReading.swift", "stall: |exchange.timeouts.read|", "PhaseLimitTests"),
    ("continue", "", "Exchange/Exchange.swift", "stall: |timeouts.continue|", "PhaseLimitTests"),
    ("total", "", "Pipeline/Call.swift", "start.advanced(byNanoseconds: |timeouts.total|)", "PhaseLimitTests"),
]
SPEEDS = [
    ("of a head", "Exchange/Exchange.swift", "ThroughputMonitor(|timeouts.speed|)"),
    ("of a response's body", "Exchange/BodyReading.swift", "ThroughputMonitor(|exchange.timeouts.speed|)"),
    ("of a request's body", "Exchange/Upload.swift", "ThroughputMonitor(|exchange.timeouts.speed|)"),
]


def add_to(table):
    table.door(
        "Timeouts",
        "Pipeline/Call.swift",
        "cookies: (any CookieStore)? = nil\n    ) {||",
        " let timeouts = mutated(timeouts)",
        {
            member: ("PhaseLimitTests", f"value.{word} = Timeouts().nanoseconds.{word}")
            for member, word in LIMITS.items()
        },
        value="Timeouts.Nanoseconds",
    )
    for member, place, file, at, suites in PLACES:
        piece = at.split("|")[1]
        name = f"Timeouts.{member} {place}".strip() + (" where it is read" if not place else "")
        table.place(name, file, at, f"{piece} &* 3", suites)
    for place, file, at in SPEEDS:
        table.place(f"Timeouts.minimumSpeed {place}", file, at, "Timeouts.Speed.Watch(nil)", "PhaseLimitTests")
    for member, word in LIMITS.items():
        swift = "`continue`" if member == "continue" else member
        initial = "Speed.Watch(minimumSpeed)" if member == "minimumSpeed" else f"Self.nanoseconds({swift})"
        default = "Speed.Watch(nil)" if member == "minimumSpeed" else "7"
        key = word.strip("`")
        table.place(
            f"Timeouts.{member} of init", "Limits/Timeouts.swift", f" {key}: |{initial}|", default, "TimeoutsTests",
        )
        table.place(
            f"Timeouts.{member} when it is set", "Limits/Timeouts.swift", f"nanoseconds.{key} = |{initial}|", default,
            "TimeoutsTests",
        )
    table.place(
        "Timeouts.Speed.bytes", "Limits/Timeouts.swift", "bytes = UInt64(max(0, |speed?.bytes ?? 0|))", "1",
        "PhaseLimitTests",
    )
    table.place(
        "Timeouts.Speed.time", "Limits/Timeouts.swift", "max(1_000_000, |$0.time.clampedNanoseconds|)",
        "$0.time.clampedNanoseconds &* 100", "PhaseLimitTests",
    )
