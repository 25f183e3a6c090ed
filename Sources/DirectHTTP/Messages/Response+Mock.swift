public import DirectHTTP1

extension HTTPClient.Response {
    /// A step of a response's body in a test.
    @nonexhaustive
    public enum BodyStep: Sendable {
        /// These bytes arrive.
        case bytes([UInt8])
        /// No more arrives. The reader waits until it is cancelled, or until ``Timeouts/read`` or
        /// ``Timeouts/total`` passes.
        case stall
        /// The body fails with this error, such as `HTTPError(.body, .connectionClosed)`.
        case failure(any Error)

        /// This text arrives, as UTF-8.
        public static func text(_ text: String) -> BodyStep { .bytes(Array(text.utf8)) }
    }

    /// Makes a response for a transport in tests, or for an interceptor, whose body arrives in steps: each
    /// `bytes` is a piece of its own.
    ///
    /// - Throws: ``HTTPError`` if the URL of the request is invalid.
    public init(
        to request: HTTPClient.Request,
        _ status: HTTPStatus,
        headers: HTTPHeaders = [:],
        steps: [BodyStep]
    ) throws {
        try self.init(to: request, status, headers: headers, stream: BodySteps(steps: steps))
    }

    /// Makes a response for a transport in tests, or for an interceptor, whose body is a sequence. Its pieces
    /// are asked for one at a time, when the body is read.
    ///
    /// The time limits of the call apply, also to a sequence that ignores cancellation. Where an interceptor
    /// of calls makes the response, only cancellation ends a wait, because the time limits are applied
    /// further inside.
    ///
    /// - Throws: ``HTTPError`` if the URL of the request is invalid.
    public init(
        to request: HTTPClient.Request,
        _ status: HTTPStatus,
        headers: HTTPHeaders = [:],
        stream: some AsyncSequence<[UInt8], some Error> & Sendable
    ) throws {
        let url = try request.checkedURL().withoutCredentials
        self.init(
            head: ResponseHead(status: status, headers: headers),
            body: ResponseBody(stream, name: url.host.description),
            url: url,
            transaction: nil
        )
    }
}

/// The steps of a body, as a sequence of its pieces.
private struct BodySteps: AsyncSequence, Sendable {
    let steps: [HTTPClient.Response.BodyStep]

    func makeAsyncIterator() -> Iterator { Iterator(steps: steps[...]) }

    struct Iterator: AsyncIteratorProtocol {
        var steps: ArraySlice<HTTPClient.Response.BodyStep>

        mutating func next() async throws -> [UInt8]? {
            guard let step = steps.popFirst() else { return nil }
            switch step {
            case .bytes(let bytes): return bytes
            case .failure(let error): throw error
            case .stall:
                return try await Self.cancellation()
            }
        }

        /// Waits for the cancellation of the task.
        private static func cancellation() async throws -> [UInt8]? {
            // The iteration ends with its task's cancellation; the stream itself, which `end` keeps open,
            // never does.
            let (stream, end) = AsyncStream<Never>.makeStream()
            for await _ in stream {}
            end.finish()
            throw CancellationError()
        }
    }
}
