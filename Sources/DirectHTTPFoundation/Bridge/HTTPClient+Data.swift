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
    /// The file is read while it is sent, and again if the request has to be sent again.
    @concurrent
    public func upload(
        for request: URLRequest,
        fromFile file: URL,
        progress: Progress? = nil
    ) async throws -> (Data, HTTPURLResponse) {
        try await data(for: BridgedRequest(request, settings, body: try .file(at: file)), progress)
    }

    private func data(
        for request: BridgedRequest,
        _ progress: Progress?
    ) async throws -> (Data, HTTPURLResponse) {
        try await request.perform(progress) { request, sent in
            let response = try await fetch(sent)
            return (Data(response.body), try request.head(response))
        }
    }
}
