public import DirectHTTP
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension HTTPClient {
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
}
