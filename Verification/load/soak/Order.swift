import DirectHTTP

/// A response or a body that is not what the right server has.
struct WrongBytes: Error {
    let what: String
}

/// One request, and what its response has to be.
struct Order: Sendable {
    let client: HTTPClient
    var request: HTTPClient.Request
    /// What the body has to be.
    var expected: [UInt8]
    var status: HTTPStatus = .ok
    var limit = Duration.seconds(10)
    /// The time between two pieces that are read, and whether the rest is left unread.
    var pause: Duration?
    var leavesBody = false
    /// The field `X-Nonce` of the request, if the server returns it.
    var nonce: String?

    /// The URL, for messages.
    var place: String { (try? request.url)?.description ?? "?" }

    /// - Throws: ``WrongBytes``, ``UnexpectedStatus``, or the client's error.
    func run() async throws {
        var request = request
        request.timeouts = RequestTimeouts(total: .after(limit))
        if let nonce { request.headers["X-Nonce"] = nonce }
        let response = try await client.send(request)
        guard response.status == status else { throw try await refusal(response) }
        try checkNonce(response)
        if leavesBody {
            for try await piece in response.body { return try check(piece, at: 0) }
        } else {
            try await compare(response)
        }
    }

    private func compare(_ response: HTTPClient.Response) async throws {
        var count = 0
        for try await piece in response.body {
            try check(piece, at: count)
            count += piece.count
            if let pause { try await Task.sleep(for: pause) }
        }
        guard count == expected.count else { throw WrongBytes(what: "\(count) bytes of \(expected.count)") }
    }

    private func check(_ piece: [UInt8], at position: Int) throws {
        guard expected.has(piece, at: position) else {
            throw WrongBytes(what: "\(piece.count) bytes at \(position)")
        }
    }

    /// A response from the cache has the nonce of the request that it was stored for.
    private func checkNonce(_ response: HTTPClient.Response) throws {
        guard let nonce, response.cacheUse != .hit, response.cacheUse != .revalidated,
            response.cacheUse != .stale
        else {
            return
        }
        guard response.headers["X-Nonce"] == nonce else {
            throw WrongBytes(what: "the response to another request")
        }
    }

    private func refusal(_ response: HTTPClient.Response) async throws -> any Error {
        let text = try await response.body.collect(upTo: 4096)
        guard response.status != 500 else { return WrongBytes(what: String(decoding: text, as: UTF8.self)) }
        return UnexpectedStatus(status: response.status)
    }
}

/// A status that a server in trouble may send, such as 502 or 503.
struct UnexpectedStatus: Error {
    let status: HTTPStatus
}

/// An upload in pieces of one length.
struct Pieces: AsyncSequence, Sendable {
    let bytes: [UInt8]
    let length: Int

    func makeAsyncIterator() -> Iterator { Iterator(pieces: self) }

    struct Iterator: AsyncIteratorProtocol {
        let pieces: Pieces
        var position = 0

        mutating func next() async -> [UInt8]? {
            guard position < pieces.bytes.count else { return nil }
            let end = Swift.min(position + pieces.length, pieces.bytes.count)
            defer { position = end }
            return Array(pieces.bytes[position..<end])
        }
    }
}
