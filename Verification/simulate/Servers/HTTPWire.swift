/// Reads requests from a stream: just enough of HTTP/1.1 for what the client sends.
final class HTTPWire: @unchecked Sendable {
    let wire: any Wire
    private var buffer: [UInt8] = []
    /// Whether a request has begun to arrive.
    var isReadingRequest: Bool { !buffer.isEmpty }

    init(_ wire: any Wire) {
        self.wire = wire
    }

    /// Returns the next head; `nil` if the client has ended the stream instead.
    func head() async throws(WireError) -> ReceivedHead? {
        while true {
            if let end = endOfHead() {
                let head = Array(buffer[..<end])
                buffer.removeFirst(end)
                guard let parsed = parse(head) else { throw .broken }
                return parsed
            }
            guard try await fill() else {
                if buffer.isEmpty { return nil }
                throw .broken
            }
        }
    }

    /// Reads at most `count` bytes of a body, as they have arrived; an empty array at the end of the stream.
    func bytes(_ count: Int) async throws(WireError) -> [UInt8] {
        if buffer.isEmpty, try await !fill() { return [] }
        let taken = Array(buffer.prefix(count))
        buffer.removeFirst(taken.count)
        return taken
    }

    /// Reads a line without its end.
    func line() async throws(WireError) -> String {
        while true {
            if let end = buffer.firstIndex(of: 10) {
                let line = String(decoding: buffer[..<end].filter { $0 != 13 }, as: UTF8.self)
                buffer.removeFirst(end + 1)
                return line
            }
            guard try await fill() else { throw .broken }
        }
    }

    private func fill() async throws(WireError) -> Bool {
        let more = try await wire.read()
        buffer += more
        return !more.isEmpty
    }

    private func endOfHead() -> Int? {
        guard buffer.count >= 4 else { return nil }
        for place in 3..<buffer.count
        where buffer[place] == 10 && buffer[place - 1] == 13 && buffer[place - 2] == 10
            && buffer[place - 3] == 13
        {
            return place + 1
        }
        return nil
    }

    private func parse(_ head: [UInt8]) -> ReceivedHead? {
        var lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        guard !lines.isEmpty else { return nil }
        let first = lines.removeFirst().split(separator: " ")
        guard first.count == 3, first[2] == "HTTP/1.1" else { return nil }
        var fields: [(name: String, value: String)] = []
        for line in lines {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            fields.append((line[..<colon].lowercased(), String(value)))
        }
        return ReceivedHead(method: String(first[0]), target: String(first[1]), fields: fields, bytes: head)
    }
}
