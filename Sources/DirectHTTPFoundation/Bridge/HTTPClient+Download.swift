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
        return try await request.perform(progress) {
            let response = try await send(request.request)
            let head = try request.head(response)
            progress?.expect(head)
            let file = try await offLoop { try FreshFile(in: folder) }
            for try await piece in response.body.gathered(upTo: pieceSize) {
                try await offLoop { try file.append(piece) }
                progress?.completedUnitCount += Int64(piece.count)
            }
            progress?.complete()
            return (try await offLoop { try file.keep() }, head)
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

/// So much is written at a time: it costs a change of threads.
private let pieceSize = 512 * 1024
