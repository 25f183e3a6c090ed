/// Reads the body of one request from its connection, with any framing.
///
/// It sends 100 (Continue) before the first read if the client waits for it, and enters the body into the
/// request's record. A chunk may be returned in several pieces.
final class RequestContent {
    /// The position in the body.
    private enum State {
        case remaining(Int)
        case chunkSize
        case chunk(remaining: Int)
        case finished
    }

    /// Whether the client still waits for 100 (Continue) before it sends the body.
    private(set) var awaitsContinue: Bool
    private(set) var trailers = FixtureHeaders()
    private let connection: FixtureConnection
    /// The index of the request in the connection's record.
    private let record: Int
    private var state: State
    /// What `all` has read, for handlers that ask more than once.
    private var kept: [UInt8] = []

    init(
        _ connection: FixtureConnection,
        record: Int,
        framing: RequestHead.Framing,
        awaitsContinue: Bool
    ) {
        self.connection = connection
        self.record = record
        switch framing {
        case .none, .length(0): state = .finished
        case .length(let count): state = .remaining(count)
        case .chunked: state = .chunkSize
        }
        if case .finished = state {
            self.awaitsContinue = false
            update { $0.isComplete = true }
        } else {
            self.awaitsContinue = awaitsContinue
        }
    }

    /// Returns the next piece, or `nil` at the end.
    func next() throws(ConnectionEnd) -> [UInt8]? {
        if awaitsContinue {
            awaitsContinue = false
            try connection.send(ResponseHead(status: 100, headers: [:]).bytes)
        }
        while true {
            switch state {
            case .finished:
                return nil
            case .remaining(let left):
                let piece = try connection.take(atMost: left)
                state = piece.count == left ? .finished : .remaining(left - piece.count)
                note(piece)
                return piece
            case .chunkSize:
                let size = try chunkSize()
                if size == 0 { return try finish() }
                state = .chunk(remaining: size)
            case .chunk(let left):
                let piece = try connection.take(atMost: left)
                if piece.count == left {
                    guard try line().isEmpty else { throw .badRequest("no line end after a chunk") }
                    state = .chunkSize
                } else {
                    state = .chunk(remaining: left - piece.count)
                }
                note(piece)
                return piece
            }
        }
    }

    /// Returns the body, but for the pieces that `next` has given to others.
    ///
    /// - Throws: ``ConnectionEnd/badRequest(_:)`` if it is longer than 64 MiB.
    func all() throws(ConnectionEnd) -> [UInt8] {
        while let piece = try next() {
            kept += piece
            guard kept.count <= Self.limit else { throw .badRequest("content too long to be kept") }
        }
        return kept
    }

    /// Reads the trailer section.
    private func finish() throws(ConnectionEnd) -> [UInt8]? {
        var lines: [String] = []
        while true {
            let line = try line()
            guard !line.isEmpty else { break }
            lines.append(String(decoding: line, as: UTF8.self))
        }
        trailers = try RequestHead.fields(lines)
        state = .finished
        let trailers = self.trailers
        update { request in
            request.trailers = trailers
            request.isComplete = true
        }
        return nil
    }

    /// Reads the line with a chunk's size. Chunk extensions are ignored.
    private func chunkSize() throws(ConnectionEnd) -> Int {
        let line = try line()
        guard !line.contains(13), !line.contains(0) else {
            throw .badRequest("CR or NUL in a chunk extension")
        }
        var size = line.prefix { $0 != 59 }
        // Blanks may stand before an extension (RFC 9112, section 7.1.1).
        while let last = size.last, last == 32 || last == 9 { size.removeLast() }
        let digits = String(decoding: size, as: UTF8.self)
        guard !digits.hasPrefix("+"), !digits.hasPrefix("-"), let size = Int(digits, radix: 16) else {
            throw .badRequest("chunk size")
        }
        return size
    }

    /// Reads a line and returns it without its CR LF.
    private func line() throws(ConnectionEnd) -> [UInt8] {
        while true {
            if let end = connection.buffer.firstIndex(of: 10) {
                let line = connection.drop(end + 1)
                guard line.count >= 2, line[end - 1] == 13 else { throw .badRequest("bare LF") }
                return Array(line.dropLast(2))
            }
            guard connection.buffer.count < Self.lineLimit else { throw .badRequest("line too long") }
            try connection.fill()
        }
    }

    /// Enters a piece into the request's record.
    private func note(_ piece: [UInt8]) {
        var isComplete = false
        if case .finished = state { isComplete = true }
        update { request in
            if request.waitForContent == nil { request.waitForContent = request.arrivedAt.duration(to: .now) }
            request.bodyCount += piece.count
            request.isComplete = isComplete
            let room = RequestRecord.bodyLimit - request.body.count
            if room > 0 { request.body.append(contentsOf: piece.prefix(room)) }
        }
    }

    private func update(_ body: (inout RequestRecord) -> Void) {
        connection.core.recorder.updateRequest(connection.number, index: record, body: body)
    }

    private static let limit = 64 << 20
    private static let lineLimit = 64 << 10
}
