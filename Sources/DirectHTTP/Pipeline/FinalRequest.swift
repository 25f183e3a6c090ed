internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// A request with all fields as they go to the server, for code that sees requests on the network.
///
/// The client writes some of these fields itself when it sends the request, from its URL, its body and its
/// options. Here they are added for the code to see, and removed from what it returns: so a body or a URL
/// that the code replaces has the fields that fit it.
struct FinalRequest: Sendable {
    /// The request with all fields.
    let request: Request
    /// The fields that follow from URL, body and options.
    private let derived: HTTPHeaders

    /// Adds the fields that follow from URL, body and options.
    ///
    /// - Throws: the errors of a body whose length cannot be determined.
    init(_ request: Request, on loop: EventLoop, within limit: CallLimit) async throws {
        var derived = HTTPHeaders()
        // The caller of an invalid URL gets its error when the request is sent.
        if case .success(let url) = request.parsedURL {
            let (_, authority) = url.targetAndAuthority(of: request.method, isForwarded: false)
            derived.add("Host", bytes: authority)
        }
        derived.complete(with: request.contentFields)
        derived.add(try await request.framing(on: loop, within: limit), of: request)
        derived.complete(with: request.connectionFields)
        var complete = request
        complete.headers.complete(with: derived)
        self.request = complete
        self.derived = derived
    }

    /// Returns a request that code has made from this one, without the fields that the client writes itself.
    ///
    /// A field that the code has removed stays removed, except those that the client writes in any case:
    /// `Host`, the length, and what follows from ``HTTPClient/Request/expectsContinue`` and
    /// ``HTTPClient/Request/upgrade``.
    func stripped(_ returned: Request) -> Request {
        var stripped = returned
        for field in derived where stripped.headers.values(for: field.name) == [field.value] {
            stripped.headers.remove(field.name)
        }
        // The code may have written the length of a new body itself.
        if let count = returned.body.bytesInMemory?.count, stripped.headers["Content-Length"] == "\(count)" {
            stripped.headers.remove("Content-Length")
        }
        let type = request.body.contentType
        if type != nil, returned.body.contentType == type, !returned.headers.contains("Content-Type") {
            stripped.body = RequestBody(returned.body.content)
            stripped.body.isGzipped = returned.body.isGzipped
        }
        return stripped
    }
}

extension Request {
    fileprivate func framing(on loop: EventLoop, within limit: CallLimit) async throws -> BodyFraming {
        do throws(TransportError) {
            return try await body.content.framing(on: loop, within: limit)
        } catch {
            throw HTTPError.from(error, name: (try? url)?.host.description)
        }
    }
}

extension HTTPHeaders {
    /// Adds the fields that the writer of requests derives from the framing of the body.
    fileprivate mutating func add(_ framing: BodyFraming, of request: Request) {
        if let length = framing.contentLength(in: request.method) { add("Content-Length", "\(length)") }
        if framing == .chunked { add("Transfer-Encoding", "chunked") }
        if request.expectsContinue, framing.hasContent { add("Expect", "100-continue") }
    }
}
