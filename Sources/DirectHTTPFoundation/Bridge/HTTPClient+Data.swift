public import DirectHTTP
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension HTTPClient {
    /// Sends a request and collects its answer, as `URLSession.data(for:)` does.
    ///
    /// The answer may be as large as `settings.maximumBufferedBody`. All errors are a `URLError`, with what really
    /// happened in its `httpError`. Cancelling the task or the progress ends the request at once.
    @concurrent
    public func data(
        for request: URLRequest,
        progress: Progress? = nil
    ) async throws -> (Data, HTTPURLResponse) {
        try await data(for: BridgedRequest(request, settings), progress)
    }

    /// Gets what is at the URL, as `URLSession.data(from:)` does.
    @concurrent
    public func data(from url: URL, progress: Progress? = nil) async throws -> (Data, HTTPURLResponse) {
        try await data(for: BridgedRequest(URLRequest(url: url), settings), progress)
    }

    /// Sends a request with these bytes as its body, as `URLSession.upload(for:from:)` does.
    @concurrent
    public func upload(
        for request: URLRequest,
        from body: Data,
        progress: Progress? = nil
    ) async throws -> (Data, HTTPURLResponse) {
        try await data(for: BridgedRequest(request, settings, body: .data(body)), progress)
    }

    /// Sends a request with the content of a file as its body, as `URLSession.upload(for:fromFile:)` does.
    ///
    /// The file is read while it is sent.
    @concurrent
    public func upload(
        for request: URLRequest,
        fromFile file: URL,
        progress: Progress? = nil
    ) async throws -> (Data, HTTPURLResponse) {
        let body = try await RequestBody.file(at: file)
        return try await data(for: BridgedRequest(request, settings, body: body), progress)
    }

    private func data(
        for request: BridgedRequest,
        _ progress: Progress?
    ) async throws -> (Data, HTTPURLResponse) {
        try await request.perform(progress) {
            guard let progress else {
                let response = try await fetch(request.request)
                return (Data(response.body), try request.head(response))
            }
            let response = try await send(request.request)
            let head = try request.head(response)
            let body = try await response.body.collect(upTo: settings.maximumBufferedBody, head, progress)
            return (body, head)
        }
    }
}

extension ResponseBody {
    fileprivate func collect(
        upTo limit: Int,
        _ head: HTTPURLResponse,
        _ progress: Progress
    ) async throws -> Data {
        progress.expect(head)
        var all = Data()
        for try await piece in self {
            guard all.count + piece.count <= limit else {
                throw HTTPError(.body, .bodyTooLarge(limit: limit), name: head.url?.host)
            }
            all.append(contentsOf: piece)
            progress.completedUnitCount += Int64(piece.count)
        }
        progress.complete()
        return all
    }
}
