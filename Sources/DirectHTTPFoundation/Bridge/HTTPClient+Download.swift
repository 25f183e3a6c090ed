public import DirectHTTP
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension HTTPClient {
    /// Sends a request and writes its answer to a file, as `URLSession.download(for:)` does.
    ///
    /// The file is a new one that only its owner can read, in the system's folder for temporary files unless another
    /// is named; moving or removing it is up to the caller. If anything fails, nothing is left behind.
    @concurrent
    public func download(
        for request: URLRequest,
        in folder: URL = FileManager.default.temporaryDirectory,
        progress: Progress? = nil
    ) async throws -> (URL, HTTPURLResponse) {
        let request = BridgedRequest(request, settings)
        let file = folder.appendingPathComponent("direct-http-\(UUID().uuidString).download")
        return try await request.perform(progress) { request, sent in
            let response = try await send(sent)
            let head = try request.head(response)
            try await response.body.write(to: file.path, mode: 0o600)
            return (file, head)
        }
    }

    /// Downloads what is at the URL to a file, as `URLSession.download(from:)` does.
    @concurrent
    public func download(
        from url: URL,
        in folder: URL = FileManager.default.temporaryDirectory,
        progress: Progress? = nil
    ) async throws -> (URL, HTTPURLResponse) {
        try await download(for: URLRequest(url: url), in: folder, progress: progress)
    }
}
