extension ResponseBody {
    /// The server-sent events of the body. See ``events(upTo:)``.
    public var events: some AsyncSequence<ServerSentEvent, any Error> & Sendable { events(upTo: 1 << 20) }

    /// The server-sent events of the body (`text/event-stream`, HTML Standard, section 9.2), until it ends.
    /// An event that is incomplete at the end is none.
    ///
    /// Neither status nor `Content-Type` are looked at, as ``HTTPClient/Response/requiringEvents()`` does,
    /// and nothing is connected again: ``HTTPClient/events(from:lastEventID:upTo:)`` does that.
    ///
    /// - Parameter limit: The number of bytes up to which a line, and the data of an event, are accepted. A
    ///   longer one ends the sequence with ``HTTPError/Reason/eventTooLong(limit:)``.
    public func events(upTo limit: Int) -> some AsyncSequence<ServerSentEvent, any Error> & Sendable {
        Events(body: self, limit: limit)
    }

    /// The server-sent events of a body.
    private struct Events: AsyncSequence, Sendable {
        let body: ResponseBody
        let limit: Int

        func makeAsyncIterator() -> Iterator {
            Iterator(events: EventReader(body, EventParser(limit: limit), limit: limit))
        }

        struct Iterator: AsyncIteratorProtocol, Sendable {
            var events: EventReader

            @concurrent
            mutating func next() async throws -> ServerSentEvent? { try await events.next() }
        }
    }
}

/// Reads the server-sent events of a body.
struct EventReader: Sendable {
    private var lines: LineReader
    private(set) var parser: EventParser
    private let limit: Int

    init(_ body: ResponseBody, _ parser: EventParser, limit: Int) {
        lines = LineReader(body, limit: limit, reason: .eventTooLong(limit: limit))
        self.parser = parser
        self.limit = limit
    }

    /// Returns the next event; `nil` when the body has ended.
    mutating func next() async throws -> ServerSentEvent? {
        while let line = try await lines.next() {
            do throws(EventParser.TooLarge) {
                if let event = try parser.take(line) { return event }
            } catch {
                throw await lines.failure(.eventTooLong(limit: limit))
            }
        }
        return nil
    }
}
