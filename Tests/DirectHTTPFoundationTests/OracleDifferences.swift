#if canImport(FoundationNetworking)

/// Something that our class does otherwise than FoundationNetworking (Swift 6.3.1), and why.
/// docs/URLSession.md tells them all.
struct OracleDifference: Sendable {
    let reason: String
    /// Makes of what plain URLSession does what our class does.
    let correct: @Sendable (inout OracleOutcome, OracleCell) -> Void

    private init(_ reason: String, _ correct: @escaping @Sendable (inout OracleOutcome, OracleCell) -> Void) {
        self.reason = reason
        self.correct = correct
    }

    static let all = bodies + redirects + cookies + fields

    private static let bodies = [
        OracleDifference("a streamed upload of a known length has it, not chunks besides") { outcome, cell in
            // It is compared with one of an unknown length: a server refuses the request of
            // FoundationNetworking, which has both fields.
            guard cell.call == .uploadOfLength else { return }
            for index in outcome.arrivals.indices where outcome.arrivals[index].framing == "chunked" {
                outcome.arrivals[index].framing = "length"
            }
        },
        OracleDifference("100 (Continue) is no response for the delegate") { outcome, cell in
            guard [.uploadOfStream, .uploadOfLength].contains(cell.call), outcome.events.first == "response"
            else { return }
            outcome.events.removeFirst()
            if outcome.status == 100 { (outcome.status, outcome.expectedLength) = (nil, nil) }
        },
        OracleDifference("the length of content that was decoded is unknown, not that of its coding") {
            outcome,
            cell in
            guard [.gzip, .gzipForAlamofire].contains(cell.content), cell.call != .head else { return }
            outcome.expectedLength = -1
        },
    ]

    private static let redirects = [
        OracleDifference("a request that keeps its method keeps its body") { outcome, cell in
            guard cell.hasBody, cell.call != .postOfStream, cell.redirect != .rebuilt,
                let first = outcome.arrivals.first
            else { return }
            for index in outcome.arrivals.indices.dropFirst()
            where outcome.arrivals[index].method == first.method {
                (outcome.arrivals[index].count, outcome.arrivals[index].framing) = (
                    first.count, first.framing
                )
            }
        },
        OracleDifference("a body that cannot be sent again is an error, not a request without it") {
            outcome,
            cell in
            guard cell.call == .postOfStream, cell.redirect == .temporary else { return }
            outcome.arrivals.removeLast()
            (outcome.events, outcome.body, outcome.error) = (["end"], "", -1021)
            (outcome.status, outcome.expectedLength) = (nil, nil)
        },
        OracleDifference("the body that a delegate gives its request for a redirect is sent") {
            outcome,
            cell in
            guard cell.redirect == .rebuilt, outcome.arrivals.count > 1 else { return }
            (outcome.arrivals[1].count, outcome.arrivals[1].framing) = (3, "length")
        },
        OracleDifference("HEAD stays HEAD after 303 (RFC 9110, section 15.4.4)") { outcome, cell in
            guard cell.call == .head, cell.redirect == .seeOther else { return }
            outcome.arrivals[1].method = "HEAD"
            outcome.body = ""
        },
        OracleDifference("fields of unknown meaning stay with their origin") { outcome, cell in
            for index in outcome.arrivals.indices where outcome.arrivals[index].path == "/other" {
                outcome.arrivals[index].fields["x-secret"] = nil
            }
        },
        OracleDifference("a redirect to an app's URL is an unsupported URL, as on Apple's systems") {
            outcome,
            cell in
            guard cell.redirect == .app else { return }
            outcome.error = -1002
        },
        OracleDifference("a redirect to an app's URL is shown to the delegate as a GET") { outcome, cell in
            outcome.events = outcome.events.map { $0 == "redirect PUT myapp" ? "redirect GET myapp" : $0 }
        },
    ]

    private static let cookies = [
        OracleDifference("cookies are those of the moment of sending, not of the task's making") {
            outcome,
            cell in
            guard cell.cookies == .login, cell.cancel != .beforeStart else { return }
            outcome.arrivals[0].fields["cookie"] = "sid=OLD; theme=dark"
        },
        OracleDifference("the hop after a delegate's decision has cookies") { outcome, cell in
            guard cell.hasDelegate, outcome.arrivals.count > 1 else { return }
            let sid = cell.redirect == .elsewhere ? "sid=OLD" : "sid=NEW"
            let theme = "\(sid); theme=dark"
            outcome.arrivals[1].fields["cookie"] =
                cell.cookies == .login ? theme : cell.redirect == .elsewhere ? nil : sid
        },
        OracleDifference("a Secure cookie is neither sent nor replaced over http") { outcome, cell in
            guard cell.cookies == .secure else { return }
            for index in outcome.arrivals.indices { outcome.arrivals[index].fields["cookie"] = nil }
            outcome.cookies = ["sid=SECRET"]
        },
        OracleDifference("a cookie that has expired is not sent") { outcome, cell in
            guard cell.cookies == .expired else { return }
            outcome.arrivals[0].fields["cookie"] = nil
        },
        OracleDifference("a cookie does not leave its path") { outcome, cell in
            guard cell.cookies == .path else { return }
            for index in outcome.arrivals.indices {
                outcome.arrivals[index].fields["cookie"] = index == 0 ? nil : "sid=NEW"
            }
        },
        OracleDifference("a program that wants no cookies sends and stores none") { outcome, cell in
            guard [.unwanted, .never].contains(cell.cookies) else { return }
            for index in outcome.arrivals.indices { outcome.arrivals[index].fields["cookie"] = nil }
            outcome.cookies = ["sid=OLD"]
        },
    ]

    private static let fields = [
        OracleDifference("Host has the port of the URL") { outcome, cell in
            for index in outcome.arrivals.indices { outcome.arrivals[index].fields["host"] = nil }
        },
        OracleDifference("Upgrade is left out: no program could use the other protocol") { outcome, cell in
            for index in outcome.arrivals.indices { outcome.arrivals[index].fields["upgrade"] = nil }
        },
    ]
}
#endif
