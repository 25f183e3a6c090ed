import DirectTestCommands
import Foundation
import Testing

/// A file that its reader has to wait for.
final class NamedPipe: @unchecked Sendable {
    let path = NSTemporaryDirectory() + "pipe-" + UUID().uuidString
    private var writer: Int32 = -1

    init() throws {
        guard mkfifo(path, 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    deinit {
        if writer >= 0 { Foundation.close(writer) }
        unlink(path)
    }

    /// Opens it for writing, on a thread of its own: returns once a reader has opened it.
    func open() async throws {
        let path = path
        writer = try await onOwnThread { Foundation.open(path, O_WRONLY) }
        try #require(writer >= 0)
    }

    func close(writing text: String) {
        _ = Data(text.utf8).withUnsafeBytes { write(writer, $0.baseAddress, $0.count) }
        Foundation.close(writer)
        writer = -1
    }
}
