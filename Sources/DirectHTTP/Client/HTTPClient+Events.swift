internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

extension HTTPClient {
    /// Follows a stream of server-sent events, and connects again when the connection ends or breaks, as
    /// browsers do (HTML Standard, section 9.2).
    ///
    /// Each connection is a call with this request: its addresses, fields and settings apply each time. From
    /// the second one on it has the last id as `Last-Event-ID`. Before it the client waits as long as the
    /// server has asked for with `retry`, at least 100 ms, by default 3 seconds; twice as long after each
    /// further connection that fails before its response, up to a minute.
    ///
    /// An iterator connects when its first event is asked for, and releasing it closes the connection.
    /// Several iterators follow independently. The sequence ends when the server answers 204. It fails
    /// - with any other status but 200, which is not tried again unless the retry policy does so;
    /// - with a content that is no `text/event-stream`;
    /// - with a failure that another attempt would not change (``HTTPError/isWorthRetrying``), such as a
    ///   wrong certificate;
    /// - with a failure of a request that is not a GET: to repeat it may do something twice. Its sequence
    ///   ends with its response;
    /// - with `CancellationError` when the task is cancelled.
    ///
    /// ``Timeouts/read`` limits the time without bytes: after it the client connects again. Servers send
    /// comments to show that they are still there; for one that does not, set it to `nil`. ``Timeouts/total``
    /// limits each connection.
    ///
    /// - Parameters:
    ///   - request: The request. `Accept` and `Cache-Control` are added unless it has them.
    ///   - lastEventID: The id of the last event that the program has seen in an earlier run; empty if there
    ///     is none.
    ///   - limit: The number of bytes up to which a line, and the data of an event, are accepted.
    public func events(
        from request: Request,
        lastEventID: String = "",
        upTo limit: Int = 1 << 20
    ) -> some AsyncSequence<ServerSentEvent, any Error> & Sendable {
        EventStream(client: self, request: request, lastEventID: lastEventID, limit: limit)
    }

    /// Follows the server-sent events at a URL. See ``events(from:lastEventID:upTo:)``.
    public func events(from url: String) -> some AsyncSequence<ServerSentEvent, any Error> & Sendable {
        events(from: Request(.get, url))
    }
}

/// The server-sent events of a server, over as many connections as it takes.
private struct EventStream: AsyncSequence, Sendable {
    let client: HTTPClient
    let request: HTTPClient.Request
    let lastEventID: String
    let limit: Int

    func makeAsyncIterator() -> Iterator { Iterator(self) }

    struct Iterator: AsyncIteratorProtocol, Sendable {
        private let stream: EventStream
        private var parser: EventParser
        private var state = State.waiting(.zero)
        private var failures = 0
        /// The request as it was sent below the network interceptors.
        private let sent = Repeatability()

        private enum State {
            /// The next connection begins after this time.
            case waiting(Duration)
            case reading(EventReader)
            case ended
        }

        init(_ stream: EventStream) {
            self.stream = stream
            parser = EventParser(limit: stream.limit, lastEventID: stream.lastEventID)
        }

        @concurrent
        mutating func next() async throws -> ServerSentEvent? {
            do {
                while true {
                    switch state {
                    case .ended: return nil
                    case .waiting(let pause): try await connect(after: pause)
                    case .reading(let reader): if let event = try await read(reader) { return event }
                    }
                }
            } catch {
                state = .ended
                throw error
            }
        }

        private mutating func connect(after pause: Duration) async throws {
            if pause > .zero {
                let loop = stream.client.executor
                try await loop.sleep(until: loop.now.advanced(byNanoseconds: pause.clampedNanoseconds))
            }
            do {
                let response = try await stream.client.send(numberedRequest)
                guard response.status != .noContent else { return state = .ended }
                try await response.requiringEvents()
                failures = 0
                state = .reading(EventReader(response.body, parser, limit: stream.limit))
            } catch let error as HTTPError where mayConnectAgain(after: error) {
                failures += 1
                state = .waiting(self.pause)
            }
        }

        /// The request with the id of the last event.
        private var numberedRequest: HTTPClient.Request {
            var request = stream.request
            request.repeatability = sent
            // The caller's own `Cache-Control` may allow what was stored: the same events again.
            request.ignoresStoredResponses = true
            if !request.headers.contains("Accept") { request.headers["Accept"] = "text/event-stream" }
            if !request.headers.contains("Cache-Control") { request.headers["Cache-Control"] = "no-store" }
            if !parser.lastEventID.isEmpty {
                request.headers["Last-Event-ID"] = parser.lastEventID
                // The server that a redirect leads to may be the one whose event it was.
                var redirects = request.redirects ?? stream.client.configuration.redirects
                redirects.extraCrossOriginFields.append("Last-Event-ID")
                request.redirects = redirects
            }
            return request
        }

        private mutating func read(_ reader: EventReader) async throws -> ServerSentEvent? {
            var reader = reader
            do {
                let event = try await reader.next()
                parser.continue(reader.parser)
                state = event == nil ? (isRepeatable ? .waiting(pause) : .ended) : .reading(reader)
                return event
            } catch let error as HTTPError where isCut(error) || mayConnectAgain(after: error) {
                parser.continue(reader.parser)
                state = .waiting(pause)
                return nil
            }
        }

        private var isRepeatable: Bool {
            stream.request.method == .get && sent.isIdempotent && sent.canBeSent
        }

        /// Whether a coded stream has ended before its coding did. A server that is stopped, or a proxy that
        /// ends a long response, leaves that behind as well as the end of a stream that is not coded.
        private func isCut(_ error: HTTPError) -> Bool {
            guard case .coding(.truncated) = error.reason else { return false }
            return isRepeatable
        }

        private func mayConnectAgain(after error: HTTPError) -> Bool {
            if case .status = error.reason { return false }
            return isRepeatable && error.isWorthRetrying
        }

        /// The time before the next connection. It doubles with each failure after the first.
        private var pause: Duration {
            // A server that asks for no time at all would keep client and network busy.
            let base = Swift.max(parser.retry ?? .seconds(3), .milliseconds(100))
            let doublings = Swift.min(Swift.max(0, failures - 1), 20)
            return Swift.max(base, Swift.min(base * (1 << doublings), .seconds(60)))
        }
    }
}

extension EventParser {
    /// Takes over what a connection that has ended leaves to the next one: the id of the last complete event,
    /// and the time to wait.
    fileprivate mutating func `continue`(_ other: EventParser) {
        self = EventParser(limit: limit, lastEventID: other.lastEventID, retry: other.retry)
    }
}

extension HTTPClient.Response {
    /// Returns this response if it is a stream of server-sent events: 200 with `text/event-stream`. The
    /// ``ResponseBody/events`` of any other content are none.
    ///
    /// - Throws: ``HTTPError/Reason/notEventStream`` for another type, ``HTTPError/Reason/status(_:)`` for
    ///   another status.
    @discardableResult
    public func requiringEvents() async throws -> HTTPClient.Response {
        guard status == .ok else {
            try await requiringSuccess()
            throw HTTPError(.response, .status(status), url: url, endpoint: transaction?.endpoint)
        }
        guard headers.hasContentType("text/event-stream") else {
            await body.drain()
            throw body.error(.notEventStream)
        }
        return self
    }
}
