/// The bodies of requests.
extension OriginServer {
    /// Reads the body of a request, and judges its bytes.
    func readUpload(
        of head: ReceivedHead,
        call number: Int,
        place: Int,
        on http: HTTPWire,
        isLate: Bool = false
    ) async throws(WireError) {
        guard head.hasBody else { return }
        let reply = plan.calls[number].replies[place]
        let isExpecting = !isLate && head.value(of: "expect") != nil
        if isExpecting, !reply.isSilentBeforeBody {
            try await http.wire.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        }
        let begin = kernel.now
        if isLate { connection.beginAbsence() }
        defer { if isLate { connection.endAbsence() } }
        let reader = UploadReader(http, of: head)
        var received = 0
        // Another server may have got the same upload before: what counts is where more of it has arrived.
        world.calls[number].received[place, default: 0] += 0
        do throws(WireError) {
            while true {
                if isLate, reply.latePause > 0 { await kernel.sleep(microseconds: reply.latePause) }
                let bytes = try await reader.next(isLate ? reply.lateReading : 16384)
                if bytes.isEmpty { break }
                let start = received
                if start == 0, isExpecting, reply.isSilentBeforeBody {
                    RequestJudge(world: world, number: number, host: 0).judgeWait(kernel.now - begin)
                }
                kernel.count("judge: bytes of an upload")
                if !Pattern.matches(bytes, body: number, from: start) {
                    world.fault("upload bytes", "call \(number), from byte \(start)")
                }
                received += bytes.count
                world.calls[number].received[place] = max(received, world.calls[number].received[place] ?? 0)
            }
        } catch {
            if connection.wasClosedAfterRelease { world.calls[number].excusedUploads.insert(place) }
            throw error
        }
        if received != plan.calls[number].upload {
            world.fault("upload bytes", "call \(number) sent \(received) of \(plan.calls[number].upload)")
        }
        if isLate { note(head, call: number, place: place) }
    }

    /// Notes that a request has been executed.
    func note(_ head: ReceivedHead, call number: Int, place: Int) {
        if head.method == "POST" { world.calls[number].executedPosts.append(place) }
    }
}
