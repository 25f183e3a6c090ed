public import DirectHTTP
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension HTTPClient {
    /// Sends a request and returns the whole response, as `URLSession.data(for:)` does.
    ///
    /// Cancelling the task or the progress aborts the request.
    ///
    /// - Parameter progress: Counts the bytes of the bodies of this call alone; cancelling it cancels the
    ///   request.
    /// - Returns: The body, at most `configuration.maximumBufferedBody` bytes long, and the head.
    /// - Throws: Always a `URLError`; the ``HTTPError`` that caused it is in its `httpError`.
    @concurrent
    public func data(
        for request: URLRequest,
        progress: Progress? = nil
    ) async throws -> (Data, HTTPURLResponse) {
        try await data(for: BridgedRequest(request, configuration), progress)
    }

    /// Fetches the resource at a URL, as `URLSession.data(from:)` does.
    ///
    /// It returns and throws what `data(for:progress:)` does.
    @concurrent
    public func data(from url: URL, progress: Progress? = nil) async throws -> (Data, HTTPURLResponse) {
        try await data(for: BridgedRequest(URLRequest(url: url), configuration), progress)
    }

    /// Sends a request with a body of these bytes, as `URLSession.upload(for:from:)` does.
    ///
    /// It returns and throws what `data(for:progress:)` does.
    @concurrent
    public func upload(
        for request: URLRequest,
        from body: Data,
        progress: Progress? = nil
    ) async throws -> (Data, HTTPURLResponse) {
        try await data(for: BridgedRequest(request, configuration, body: .upload(body)), progress)
    }

    /// Sends a request with the content of a file as its body, as `URLSession.upload(for:fromFile:)` does.
    ///
    /// The file is read while the request is sent, and again if the request has to be sent again. The call
    /// returns and throws what `data(for:progress:)` does.
    @concurrent
    public func upload(
        for request: URLRequest,
        fromFile file: URL,
        progress: Progress? = nil
    ) async throws -> (Data, HTTPURLResponse) {
        try await data(for: BridgedRequest(request, configuration, body: try .file(at: file)), progress)
    }

    /// Sends a request and writes the response's body to a file, as `URLSession.download(for:)` does.
    ///
    /// The file is new, and only its owner can read it. The caller moves or removes it. If the download
    /// fails, no file is left behind.
    ///
    /// - Parameter folder: The folder of the new file; the system's folder for temporary files by default.
    /// - Returns: The URL of the file, and the head of the response.
    /// - Throws: Always a `URLError`; the ``HTTPError`` that caused it is in its `httpError`.
    @concurrent
    public func download(
        for request: URLRequest,
        in folder: URL = FileManager.default.temporaryDirectory,
        progress: Progress? = nil
    ) async throws -> (URL, HTTPURLResponse) {
        let request = BridgedRequest(request, configuration)
        let file = folder.appendingPathComponent("direct-http-\(UUID().uuidString).download")
        return try await request.perform(progress, with: self) { request, sent in
            let response = try await send(sent)
            let head = try request.head(response)
            try await response.body.write(to: file.path, mode: 0o600)
            return (file, head)
        }
    }

    /// Downloads the resource at a URL to a file, as `URLSession.download(from:)` does.
    ///
    /// It returns and throws what `download(for:in:progress:)` does.
    @concurrent
    public func download(
        from url: URL,
        in folder: URL = FileManager.default.temporaryDirectory,
        progress: Progress? = nil
    ) async throws -> (URL, HTTPURLResponse) {
        try await download(for: URLRequest(url: url), in: folder, progress: progress)
    }

    private func data(
        for request: BridgedRequest,
        _ progress: Progress?
    ) async throws -> (Data, HTTPURLResponse) {
        try await request.perform(progress, with: self) { request, sent in
            let response = try await fetch(sent)
            return (Data(response.body), try request.head(response.head))
        }
    }
}
