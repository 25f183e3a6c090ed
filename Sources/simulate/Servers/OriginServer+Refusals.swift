/// What a server answers before a request counts as one: a redirect to TLS, and a challenge.
extension OriginServer {
    /// Returns the path of a request's target, which may be a whole URL.
    func path(of head: ReceivedHead) -> String {
        guard head.target.hasPrefix("http://") else { return head.target }
        return String(head.target.dropFirst(7).drop { $0 != "/" })
    }

    /// Answers a plain request for a secure host, which nobody sends who knows that the host wants TLS only.
    func redirect(
        _ head: ReceivedHead,
        host: Int,
        call number: Int,
        on http: HTTPWire
    ) async throws(WireError) -> Bool {
        RequestJudge(world, number: number, host: host).judgeStrictness()
        world.calls[number].hasCrossed = true
        let location = world.origin(host) + path(of: head)
        try await http.wire.write(
            Array("HTTP/1.1 308 Use TLS\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n".utf8)
        )
        if hasBody(head) { await http.wire.close(politely: true) }
        return !hasBody(head)
    }

    /// Answers a request without a valid login. Its body is read, so that the connection can go on.
    func refuse(
        _ head: ReceivedHead,
        with challenge: String,
        on http: HTTPWire
    ) async throws(WireError) -> Bool {
        let isUnread = head.value(of: "expect") != nil
        if hasBody(head), !isUnread {
            let reader = UploadReader(
                http,
                isChunked: head.value(of: "transfer-encoding") != nil,
                length: head.value(of: "content-length").flatMap { Int($0) } ?? 0
            )
            while try await !reader.next(16384).isEmpty {}
        }
        let text = "HTTP/1.1 401 Log in\r\nWWW-Authenticate: \(challenge)\r\nContent-Length: 0\r\n"
        try await http.wire.write(Array((text + (isUnread ? "Connection: close\r\n\r\n" : "\r\n")).utf8))
        if isUnread { await http.wire.close(politely: isPolite) }
        return !isUnread
    }
}
