extension ResponseBody {
    /// The lines of the body, of at most 1 MiB each. See ``lines(upTo:)``.
    public var lines: some AsyncSequence<String, any Error> & Sendable { lines(upTo: 1 << 20) }

    /// The lines of the body, as text.
    ///
    /// A line ends with LF, CR or CRLF, which is not part of it; the last one may end with the body. Empty
    /// lines are lines. The text is UTF-8: invalid bytes become U+FFFD, and a byte order mark at the
    /// beginning is removed. A line is returned as soon as its end has arrived.
    ///
    /// - Parameter limit: The length of a line in bytes, up to which it is accepted. A longer one ends the
    ///   sequence with ``HTTPError/Reason/lineTooLong(limit:)``.
    public func lines(upTo limit: Int) -> some AsyncSequence<String, any Error> & Sendable {
        Lines(body: self, limit: limit)
    }

    /// The lines of a body.
    private struct Lines: AsyncSequence, Sendable {
        let body: ResponseBody
        let limit: Int

        func makeAsyncIterator() -> Iterator {
            Iterator(lines: LineReader(body, limit: limit, reason: .lineTooLong(limit: limit)))
        }

        struct Iterator: AsyncIteratorProtocol, Sendable {
            var lines: LineReader

            @concurrent
            mutating func next() async throws -> String? {
                if let line = try await lines.next() { return String(decoding: line, as: UTF8.self) }
                return lines.rest().map { String(decoding: $0, as: UTF8.self) }
            }
        }
    }
}

/// Reads the lines of a body.
struct LineReader: Sendable {
    private let body: ResponseBody
    private let reason: HTTPError.Reason
    private var pieces: ResponseBody.AsyncIterator?
    private var splitter: LineSplitter

    /// - Parameter reason: the reason of the error if a line is longer than the limit.
    init(_ body: ResponseBody, limit: Int, reason: HTTPError.Reason) {
        self.body = body
        self.reason = reason
        pieces = body.makeAsyncIterator()
        splitter = LineSplitter(limit: limit)
    }

    /// Returns the next line; `nil` when the body has ended.
    mutating func next() async throws -> [UInt8]? {
        while pieces != nil {
            do throws(LineSplitter.TooLong) {
                if let line = try splitter.next() { return line }
            } catch {
                throw await failure(reason)
            }
            guard let piece = try await nextPiece() else { return nil }
            splitter.feed(piece)
        }
        return nil
    }

    /// Returns the next piece; `nil` when the body has ended.
    private mutating func nextPiece() async throws -> [UInt8]? {
        do {
            let piece = try await pieces?.next()
            if piece == nil { pieces = nil }
            return piece
        } catch {
            end()
            throw error
        }
    }

    /// Returns what follows the last end of a line.
    mutating func rest() -> [UInt8]? { splitter.rest() }

    /// Reads no more, and drops the line that has begun: what comes after a failure is the end.
    private mutating func end() {
        pieces = nil
        splitter = LineSplitter(limit: 0)
    }

    /// Ends the body, and returns an error of it.
    mutating func failure(_ reason: HTTPError.Reason) async -> HTTPError {
        end()
        await body.drain()
        return body.error(reason)
    }
}
