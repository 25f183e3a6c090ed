"""The reports of a client about its requests: the facts, times and counts of HTTPTransaction and CallReport."""


def add_to(table):
    add_transaction(table)
    add_measuring(table)
    add_report(table)
    table.exempt("CallEvent.kind", "the event itself: each of its values is a figure of another member")


def add_transaction(table):
    for member, piece, becomes in [
        ("name", "connection.name", '""'),
        ("endpoint", "connection.endpoint", '"192.0.2.1:1"'),
        ("source", "connection.source", ".url"),
        ("proxy", "connection.path.proxy", "nil"),
        ("translatedAddress", "connection.path.translated", "nil"),
        ("unixSocket", "connection.path.unixSocket", "nil"),
        ("localEndpoint", "connection.path.local", "nil"),
        ("tls", "connection.tls", "nil"),
        ("failedAttempts", "connection.search.failedAttempts.map(Attempt.init)", "[]"),
    ]:
        suites = {"proxy": "ProxyTests", "translatedAddress": "TranslationTests", "unixSocket": "UnixSocketTests",
                  "localEndpoint": "LocalBindingTests"}.get(member, "ObserverTests")
        table.place(f"HTTPTransaction.{member}", f"HTTPTransaction.{member}", f"|{piece}|", becomes, suites)
    for member, other in [("resolve", "connect"), ("connect", "resolve"), ("tls", "connect")]:
        time, its_own = f"HTTPTransaction.{member}Time", f"connection.times.{member}"
        table.place(time, time, f"|{its_own}|", "nil", "TimesTests")
        table.place(f"{time}, another one", time, f"|{its_own}|", f"connection.times.{other}", "TimesTests")
        table.place(f"{time} of a connection that was there", time, "wasIdle ? |nil|", its_own, "TimesTests")
    for member, at, becomes in [
        ("requestTime", "|record.sent.since(record.start)|", "record.response.since(record.start)"),
        ("queueTime", "|.nanoseconds(Int64(clamping: record.queued))|", ".zero"),
        ("bodyTime", "|record.response|", "record.start"),
        ("totalTime", "|record.start|", "record.response"),
        ("responseTime", "|record.response.since(record.start)|", "record.sent.since(record.start)"),
    ]:
        table.place(f"HTTPTransaction.{member}", f"HTTPTransaction.{member}", at, becomes, "TimesTests")


def add_measuring(table):
    """Adds mutants at the sources of a transaction's facts."""
    for name, where, at, becomes in [
        ("isReused", "Transport.perform", "|isReused| ? .reused", "false"),
        ("requestTime, responseTime from the wrong start", "Transport.perform", "start: |request.limits.start|,", "sent"),
        ("requestTime to the wrong end", "Transport.perform", "sent: |sent|,", "request.limits.start"),
        ("responseTime to the wrong end", "Transport.perform", "response: |loop.now|,", "sent"),
        ("resolveTime of a resolver", "RoutePlanner.resolvedRoute", "|loop.now.since(start)|", "nil"),
        ("resolveTime of the system", "Dialler.selection", "|loop.now.since(start)|", "nil"),
        ("resolveTime of a fallback", "Dialler.next", "|loop.now.since(now)|", "nil"),
        ("resolveTime of a connection", "Dialler.connection", "|result.selection.resolveTime|", "nil"),
        ("connectTime of a connection", "Dialler.connection", "|result.established.connectTime|", ".zero"),
        ("tlsTime of a connection", "Dialler.connection", "|result.established.tlsTime|", "nil"),
        ("failedAttempts of a connection", "Dialler.connection", "|result.failedAttempts|", "[]"),
        ("failedAttempts' elapsed time", "Dialler.failedAttempts", "|attempt.elapsed|", ".zero"),
        ("connectTime of a link", "Connector.established", "|loop.now.since(start)|", ".zero"),
        ("tlsTime of a link", "Connector.secure", "|loop.now.since(start)|", ".zero"),
        ("connectTime over a proxy that looks names up", "Dialler.dialOnce", "|established.connectTime|", ".zero"),
        ("tlsTime over a proxy that looks names up", "Dialler.dialOnce", "|established.tlsTime|", "nil"),
        ("resolveTime of a proxy", "Dialler.dialOnce", "|result.selection.resolveTime|", "nil"),
        ("failedAttempts of a proxy", "Dialler.dialOnce", "failedAttempts: |result.failedAttempts|", "[]"),
        ("connectTime with a proxy's negotiation", "Dialler.openTunnel", "|(proxyTransport.tlsTime ?? .zero)|", ".zero"),
        ("connectTime with the way to a proxy", "Dialler.openTunnel", "let time = |proxyTransport.connectTime| +", "Duration.zero"),
        ("connectTime with the TLS to a proxy", "Dialler.openTunnel", "|loop.now.since(start)|", ".zero"),
    ]:
        members = " ".join(f"HTTPTransaction.{word.strip(',')}" for word in name.replace("'", " ").split() if word.strip(",") in KNOWN)
        table.place(f"HTTPTransaction.{name}", where, at, becomes, "TimesTests", members=members)


KNOWN = {"isReused", "requestTime", "responseTime", "resolveTime", "connectTime", "tlsTime", "failedAttempts"}


def add_report(table):
    for member, where, at, becomes, suites in [
        ("method", "ending", "method: |method|, url", ".delete", "TimesTests"),
        ("url", "ending", "url: |url|,", "nil", "ObserverTests"),
        ("outcome", "ending", "outcome: |outcome|,", ".cancelled", "ObserverTests"),
        ("duration", "ending", "|loop.now.since(start)|", ".zero", "TimesTests"),
        ("exchanges", "ending", "|state.exchanges|", "[]", "ObserverTests"),
        ("retryStop", "ending", "|state.retryStop|", "nil", "RetryReportTests"),
        ("Exchange.method", "beginExchange", "CallReport.Exchange(|method|,", ".delete", "TimesTests"),
        ("Exchange.url", "beginExchange", "CallReport.Exchange(method, |url|,", '(try? HTTPURL("http://other.test/")) ?? url', "ObserverTests"),
        ("Exchange.reason", "beginExchange", "|state.reason|, start: start", "nil", "ObserverTests"),
        ("Exchange.start", "beginExchange", "|loop.now.since(start)|", ".zero", "TimesTests"),
        ("Exchange.duration", "close", CLOSING, ".zero", "TimesTests"),
        ("Exchange.duration from the wrong start", "close", CLOSING, "loop.now.since(start)", "TimesTests"),
        ("Exchange.status", "beginBody", ".status = |status|", "nil", "ObserverTests"),
        ("Exchange.transaction", "beginBody", ".transaction = |transaction|", "nil", "ObserverTests"),
        ("Exchange.failedAttempts before a response", "beginBody", "|transaction.failedAttempts|", "[]", "ObserverTests"),
        ("Exchange.failedAttempts without a response", "fail", "|error?.attempts ?? []|", "[]", "ObserverTests"),
        ("Exchange.bodyBytes", "endBody", ".bodyBytes = |count|", "0", "ObserverTests"),
        ("Exchange.isBodyWhole", "endBody", ".isBodyWhole = |isWhole|", "!isWhole", "ObserverTests"),
        ("Exchange.error", "fail", ".error = |error|", "nil", "ObserverTests"),
    ]:
        table.place(f"CallReport.{member}", f"CallLog.{where}", at, becomes, suites)
    for member, where, at, becomes in [
        ("resolverFailures", "noteFailure", "exchange.resolverFailures.append(|failure|)", "ResolverError(name, .notListed)"),
        ("requestBytes", "note", "exchange.requestBytes = |bytes|", "0"),
    ]:
        table.place(f"CallReport.Exchange.{member}", f"ExchangeLog.{where}", at, becomes, "ObserverTests")
    table.place("CallEvent.time", "CallLog.tell", "|loop.now.since(start)|", ".zero", "TimesTests")
    table.place("CallEvent.tags", "CallLog.tell", "call: number, tags: |tags|", "RequestTags()", "RequestTagTests")
    table.place("CallEvent.call", "CallLog.tell", "CallEvent(call: |number|, tags", "0", "ObserverTests")


CLOSING = "|loop.now.since(start) - state.exchanges[place].start|"
