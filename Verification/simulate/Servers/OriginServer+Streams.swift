/// Responses that are no messages of a known length: server-sent events, and bytes of another protocol.
extension OriginServer {
    /// Sends the events after the last one that the client has had, three at a time, and says when there are
    /// no more (HTML Standard, section 9.2.3).
    func sendEvents(
        to head: ReceivedHead,
        of request: RequestUnderWay,
        call number: Int,
        on http: HTTPWire
    ) async throws(WireError) -> Bool {
        let reply = plan.calls[number].replies[request.reply]
        let last = head.value(of: "last-event-id").flatMap { Int($0) } ?? 0
        if reply.delay > 0 { await kernel.sleep(microseconds: reply.delay) }
        request.isAnswered = true
        guard last < EventJudge.events else {
            try await http.wire.write(Array("HTTP/1.1 204 No more\r\n\r\n".utf8))
            return true
        }
        let fields = "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
        try await http.wire.write(Array("HTTP/1.1 200 Events\r\n\(fields)\r\n".utf8))
        var parts = ["retry: 100\n\n: a comment\n"]
        for id in last + 1...min(last + 3, EventJudge.events) {
            parts.append("id: \(id)\ndata: \(EventJudge.event(id, ofCall: number))\n\n")
        }
        // What has no end is no event.
        if reply.ending == .breaksOff { parts.append("id: \(last + 4)\ndata: a part\n") }
        for part in parts {
            if reply.pause > 0 { await kernel.sleep(microseconds: reply.pause) }
            try await http.wire.write(Array("\(String(part.utf8.count, radix: 16))\r\n\(part)\r\n".utf8))
        }
        if reply.ending != .breaksOff { try await http.wire.write(Array("0\r\n\r\n".utf8)) }
        guard reply.ending != .complete else { return true }
        await http.wire.close(politely: isPolite && reply.ending == .closes)
        return false
    }

    /// Switches protocols, sends bytes before and after it has read all that the client sends, and ends.
    func converse(call number: Int, of request: RequestUnderWay, on http: HTTPWire) async throws(WireError) {
        kernel.count("server: raw stream")
        let place = request.reply
        let bytes = Pattern.bytes(
            Pattern.reply(place, ofCall: number),
            count: plan.calls[number].replies[place].size
        )
        request.isAnswered = true
        // It is no longer one of the client's pool.
        for host in world.served.indices { world.served[host].removeAll { $0 === connection } }
        let isTunnel = plan.calls[number].kind == .tunnel
        let line = isTunnel ? "200 Connected" : "101 Raw\r\nConnection: Upgrade\r\nUpgrade: raw"
        // Framing means nothing behind CONNECT (RFC 9112, section 6.3).
        let framing = isTunnel && number % 2 == 0 ? "Content-Length: 3\r\n" : ""
        let head = "HTTP/1.1 \(line)\r\n\(framing)X-Reply: \(place)\r\n\r\n"
        try await http.wire.write(Array(head.utf8) + bytes.prefix(bytes.count / 2))
        var received = 0
        while true {
            let piece = try await http.bytes(16384)
            if piece.isEmpty { break }
            if !Pattern.matches(piece, body: number, from: received) {
                world.fault("upload bytes", "call \(number), from byte \(received) of a raw stream")
            }
            received += piece.count
        }
        world.calls[number].received[place] = received
        try await http.wire.write(Array(bytes.dropFirst(bytes.count / 2)))
        await http.wire.close(politely: isPolite)
    }
}
