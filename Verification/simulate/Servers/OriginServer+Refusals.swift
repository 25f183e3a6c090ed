/// What a server answers instead of a reply of the plan: a redirect to TLS, a challenge, and a confirmation.
extension OriginServer {
    /// Answers a plain request for a secure host with a redirect. A client that knows of the host's policy
    /// (HSTS) sends no such request.
    func redirect(
        _ head: ReceivedHead,
        host: Int,
        call number: Int,
        on http: HTTPWire
    ) async throws(WireError) -> Bool {
        RequestJudge(world: world, number: number, host: host).judgeStrictness()
        PeerJudge(world: world, number: number, host: host).judgeStrictness()
        world.calls[number].hasCrossed = true
        // The end of the connection may destroy the response on its way.
        if head.hasBody { world.calls[number].mayHaveMissedCrossing = true }
        let location = world.origin(host) + head.path
        try await http.wire.write(
            Array("HTTP/1.1 308 Use TLS\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n".utf8)
        )
        if head.hasBody { await http.wire.close(politely: true) }
        return !head.hasBody
    }

    /// Answers a request without a valid login. Its body is read, so that the connection can go on.
    func refuse(
        _ head: ReceivedHead,
        with challenge: String,
        byProxy: Bool = false,
        on http: HTTPWire
    ) async throws(WireError) -> Bool {
        let isUnread = head.value(of: "expect") != nil
        if head.hasBody, !isUnread {
            let reader = UploadReader(http, of: head)
            while try await !reader.next(16384).isEmpty {}
        }
        let line = byProxy ? "407 Log in\r\nProxy-Authenticate: " : "401 Log in\r\nWWW-Authenticate: "
        let text = "HTTP/1.1 \(line)\(challenge)\r\nContent-Length: 0\r\n"
        try await http.wire.write(Array((text + (isUnread ? "Connection: close\r\n\r\n" : "\r\n")).utf8))
        if isUnread { await http.wire.close(politely: isPolite) }
        return !isUnread
    }

    /// Confirms a response that the client has in its cache. Returns false if it has none.
    func confirm(_ head: ReceivedHead, call number: Int, on http: HTTPWire) async throws(WireError) -> Bool {
        guard head.method == "GET", let tag = head.value(of: "if-none-match") else { return false }
        let parts = tag.filter { $0 != "\"" }.split(separator: "-").compactMap { Int($0) }
        guard parts.count == 2, plan.calls.indices.contains(parts[0]),
            plan.calls[parts[0]].replies.indices.contains(parts[1]),
            plan.calls[parts[0]].resource == plan.calls[number].resource
        else {
            world.fault("cache", "call \(number) asks for a confirmation of \(tag)")
            return false
        }
        kernel.count("server: response confirmed")
        let place = parts[0] * 100 + parts[1]
        let lifetime = plan.calls[parts[0]].replies[parts[1]].lifetime ?? 0
        judgeAgain(number, confirmed: world.confirmed[place], lifetime: lifetime)
        world.confirmed[place] = kernel.now
        let text = "HTTP/1.1 304 Not Modified\r\nETag: \(tag)\r\nCache-Control: max-age=\(lifetime)\r\n\r\n"
        try await http.wire.write(Array(text.utf8))
        return true
    }

    /// A confirmation makes a stored response fresh again (RFC 9111, section 4.3.4).
    private func judgeAgain(_ number: Int, confirmed: UInt64?, lifetime: Int) {
        // A folder may have lost it. Otherwise calls are a second apart, the clock's least unit.
        guard let confirmed, plan.keeping == nil, plan.kernel?.clock == nil,
            plan.hosts.allSatisfy({ $0.digest == nil }), let start = world.calls[number].start,
            confirmed + 900_000_000 < start
        else { return }
        kernel.count("judge: confirmed again")
        if kernel.now + 1_000_000_000 < confirmed + UInt64(lifetime) * 1_000_000_000 {
            world.fault("cache", "call \(number) asks again for what has just been confirmed")
        }
    }
}
