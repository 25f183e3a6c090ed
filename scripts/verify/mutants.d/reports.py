"""The reports of a client about its requests: the facts, times and counts of HTTPTransaction and CallReport."""


def add_to(table):
    add_transaction(table)
    add_measuring(table)
    add_report(table)
    table.exempt("CallEvent.kind", "the event itself: each of its values is a figure of another member")


def add_transaction(table):
    file = "Messages/HTTPTransaction.swift"
    for member, at, becomes in [
        ("name", "name: String { |connection.name| }", '""'),
        ("endpoint", "endpoint: Endpoint { |connection.endpoint| }", '"192.0.2.1:1"'),
        ("source", "source: AddressSource { |connection.source| }", ".url"),
        ("proxy", "proxy: String? { |connection.proxy| }", "nil"),
        ("translatedAddress", "translatedAddress: IPAddress? { |connection.translated| }", "nil"),
        ("unixSocket", "unixSocket: UnixSocketPath? { |connection.unixSocket| }", "nil"),
        ("localEndpoint", "localEndpoint: Endpoint? { |connection.local| }", "nil"),
        ("tls", "tls: TLSFacts? { |connection.tls| }", "nil"),
        ("failedAttempts", "failedAttempts: [Attempt] { |connection.failedAttempts.map(Attempt.init)| }", "[]"),
    ]:
        suites = {"proxy": "ProxyTests", "translatedAddress": "TranslationTests", "unixSocket": "UnixSocketTests",
                  "localEndpoint": "LocalBindingTests"}.get(member, "ObserverTests")
        table.place(f"HTTPTransaction.{member}", file, at, becomes, suites)
    for member, other in [("resolve", "connect"), ("connect", "resolve"), ("tls", "connect")]:
        time = f"{member}Time: Duration? {{ wasIdle ? nil : connection.{member}Time"
        table.place(
            f"HTTPTransaction.{member}Time", file, time.replace(" : c", " : |c") + "|", "nil", "TimesTests",
        )
        table.place(
            f"HTTPTransaction.{member}Time, another one",
            file, time.replace(" : c", " : |c") + "|", f"connection.{other}Time", "TimesTests",
        )
        table.place(
            f"HTTPTransaction.{member}Time of a connection that was there",
            file, time.replace("nil", "|nil|"), f"connection.{member}Time", "TimesTests",
        )
    table.place(
        "HTTPTransaction.requestTime", file, "|record.sent.since(record.start)|", "record.response.since(record.start)", "TimesTests"
    )
    table.place(
        "HTTPTransaction.queueTime", file, "|.nanoseconds(Int64(clamping: record.queued))|", ".zero", "TimesTests"
    )
    table.place(
        "HTTPTransaction.bodyTime", file, "bodyEnd?.since(|record.response|)", "record.start", "TimesTests"
    )
    table.place(
        "HTTPTransaction.totalTime", file, "bodyEnd?.since(|record.start|)", "record.response", "TimesTests"
    )
    table.place(
        "HTTPTransaction.responseTime", file, "|record.response.since(record.start)|", "record.sent.since(record.start)", "TimesTests"
    )


def add_measuring(table):
    """Adds mutants at the sources of a transaction's facts."""
    exchange, dialler, proxy = "Transport/Transport.swift", "Dial/Dialler.swift", "Dial/Dialler+Proxy.swift"
    for name, file, at, becomes in [
        ("isReused", exchange, "response: loop.now,\n                isReused: |isReused|", "false"),
        ("requestTime, responseTime from the wrong start", exchange, "connection: connection.facts,\n                start: |start|,", "sent"),
        ("requestTime to the wrong end", exchange, "sent: |sent|,", "start"),
        ("responseTime to the wrong end", exchange, "response: |loop.now|,", "sent"),
        ("resolveTime of a resolver", "Pipeline/RoutePlanner.swift", "selection.resolveTime = |loop.now.since(start)|", "nil"),
        ("resolveTime of the system", dialler, "selection.resolveTime = |loop.now.since(start)|", "nil"),
        ("resolveTime of a fallback", dialler, "selection.resolveTime = |loop.now.since(now)|", "nil"),
        ("resolveTime of a connection", dialler, "resolveTime: |result.selection.resolveTime|", "nil"),
        ("connectTime of a connection", dialler, "connectTime: |result.established.connectTime|", ".zero"),
        ("tlsTime of a connection", dialler, "tlsTime: |result.established.tlsTime|", "nil"),
        ("failedAttempts of a connection", dialler, "failedAttempts: |result.failedAttempts|", "[]"),
        ("failedAttempts' elapsed time", "Dial/Dialler+Outcome.swift", "elapsed: |attempt.elapsed|", ".zero"),
        ("connectTime of a link", "Dial/Connector.swift", "connectTime: |loop.now.since(start)|", ".zero"),
        ("tlsTime of a link", "Dial/Connector.swift", "established.tlsTime = |loop.now.since(start)|", ".zero"),
        ("connectTime over a proxy that looks names up", proxy, "connectTime: |established.connectTime|", ".zero"),
        ("tlsTime over a proxy that looks names up", proxy, "tlsTime: |established.tlsTime|", "nil"),
        ("resolveTime of a proxy", proxy, "resolveTime: |result.selection.resolveTime|", "nil"),
        ("failedAttempts of a proxy", proxy, "failedAttempts: |result.failedAttempts|", "[]"),
        ("connectTime with a proxy's negotiation", proxy, "let time = proxyTransport.connectTime + |(proxyTransport.tlsTime ?? .zero)| +", ".zero"),
        ("connectTime with the way to a proxy", proxy, "let time = |proxyTransport.connectTime| +", "Duration.zero"),
        ("connectTime with the TLS to a proxy", proxy, "?? .zero) + |loop.now.since(start)|", ".zero"),
    ]:
        members = " ".join(f"HTTPTransaction.{word.strip(',')}" for word in name.replace("'", " ").split() if word.strip(",") in KNOWN)
        table.place(f"HTTPTransaction.{name}", file, at, becomes, "TimesTests", members=members)


KNOWN = {"isReused", "requestTime", "responseTime", "resolveTime", "connectTime", "tlsTime", "failedAttempts"}


def add_report(table):
    log, exchange = "Observation/CallLog.swift", "CallReport.Exchange(method, url, state.reason, start: start)"
    for member, at, becomes, suites in [
        ("method", "method: |method|,\n                url", ".delete", "TimesTests"),
        ("url", "url: |url|,", "nil", "ObserverTests"),
        ("outcome", "outcome: |outcome|,", ".cancelled", "ObserverTests"),
        ("duration", "duration: |loop.now.since(start)|,", ".zero", "TimesTests"),
        ("exchanges", "exchanges: |state.exchanges|", "[]", "ObserverTests"),
        ("retryStop", "retryStop: |state.retryStop|", "nil", "RetryReportTests"),
        ("Exchange.method", exchange.replace("(method", "(|method|"), ".delete", "TimesTests"),
        ("Exchange.url", exchange.replace(" url", " |url|"), '(try? HTTPURL("http://other.test/")) ?? url', "ObserverTests"),
        ("Exchange.reason", exchange.replace("state.reason", "|state.reason|"), "nil", "ObserverTests"),
        ("Exchange.start", "let start = |loop.now.since(start)|", ".zero", "TimesTests"),
        ("Exchange.duration", CLOSING, ".zero", "TimesTests"),
        ("Exchange.duration from the wrong start", CLOSING, "loop.now.since(start)", "TimesTests"),
        ("Exchange.status", ".status = |status|", "nil", "ObserverTests"),
        ("Exchange.transaction", ".transaction = |transaction|\n", "nil", "ObserverTests"),
        ("Exchange.failedAttempts before a response", ".wasIdle ? [] : |transaction.failedAttempts|", "[]", "ObserverTests"),
        ("Exchange.failedAttempts without a response", "= |error?.attempts ?? []|", "[]", "ObserverTests"),
        ("Exchange.bodyBytes", ".bodyBytes = |count|", "0", "ObserverTests"),
        ("Exchange.isBodyWhole", ".isBodyWhole = |isWhole|", "!isWhole", "ObserverTests"),
        ("Exchange.error", ".error = |error|\n", "nil", "ObserverTests"),
    ]:
        table.place(f"CallReport.{member}", log, at, becomes, suites)
    table.place(
        "CallReport.Exchange.resolverFailures", "Observation/ExchangeLog.swift",
        "exchange.resolverFailures.append(|failure|)", "ResolverError(name, .notListed)", "ObserverTests",
    )
    table.place(
        "CallReport.Exchange.requestBytes",
        "Observation/ExchangeLog.swift", "exchange.requestBytes = |bytes|", "0", "ObserverTests",
    )
    table.place("CallEvent.time", log, "time: |loop.now.since(start)|, kind", ".zero", "TimesTests")
    table.place("CallEvent.tags", log, "call: number, tags: |tags|", "RequestTags()", "RequestTagTests")
    table.place("CallEvent.call", log, "CallEvent(call: |number|, tags", "0", "ObserverTests")


CLOSING = ".duration = |loop.now.since(start) - state.exchanges[place].start|"
