internal import DirectCore
internal import DirectHTTP

/// The faults and warnings of a request and its response.
extension Judge {
    func judgeExchange(_ record: inout ProbeRecord) {
        guard let exchange = record.observation.exchange else {
            if record.passed, record.target.url != nil, let chosen = record.served?.facts?.alpn,
                chosen != "http/1.1"
            {
                let words = "no request sent: the server chose \(chosen)"
                record.fail(.httpBroken, words, brief: "server chose \(chosen)")
            }
            return
        }
        switch exchange.failure {
        case .timedOut:
            let words = "no complete answer to the request in \(settings.timeout.text)"
            record.fail(.timeoutHTTP, words, brief: "no answer to the request")
        case .speaksTLS:
            record.fail(.httpBroken, "not plain HTTP: the server speaks TLS", brief: "not HTTP: TLS")
        case .uncleanEnd:
            record.warn(.uncleanEnd, "the response ended without close_notify: it may be incomplete")
        case .broken where exchange.beginsAsHTTP2:
            let words = "the server answers in HTTP/2, which was not agreed on"
            record.fail(.httpBroken, words, brief: "HTTP/2, not agreed on")
        case .broken(let why), .unsendable(let why):
            record.fail(.httpBroken, "the HTTP exchange failed: \(why)", brief: "HTTP failed: \(why)")
        case nil: break
        }
        if let status = exchange.head?.status.code, !settings.acceptedStatus.contains(status) {
            let words = "HTTP status \(status), not in \(settings.acceptedStatus.text)"
            record.fail(.httpStatus, words, brief: "HTTP status \(status)")
        }
        if record.passed, redirectsToItself(record) {
            record.warn(.redirectsToItself, "redirects to itself")
        }
    }

    /// Whether the response sends a client back to the URL that it has just asked for.
    private func redirectsToItself(_ record: ProbeRecord) -> Bool {
        guard let url = record.target.url, settings.method == .get || settings.method == .head,
            let head = record.observation.exchange?.head,
            [301, 302, 303, 307, 308].contains(head.status.code),
            let location = head.headers["Location"], let next = try? url.resolving(location)
        else { return false }
        return (try? next.replacing(fragment: nil)) == (try? url.replacing(fragment: nil))
    }
}
