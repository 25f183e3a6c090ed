internal import DirectHTTP
internal import DirectIO
internal import Foundation

extension RequestBody {
    /// The content of a file, with its length now.
    static func file(at url: URL) async throws -> RequestBody {
        guard url.isFileURL else {
            throw URLError(.unsupportedURL, "the body's URL is not that of a file", for: url)
        }
        let path = url.path
        let length = try await offLoop { try fileLength(path) }
        guard let length, let stream = InputStream(fileAtPath: path) else {
            throw URLError(.fileDoesNotExist, "the file for the body cannot be read", for: url)
        }
        return .stream(stream, length: length)
    }
}

private func fileLength(_ path: String) throws -> UInt64? {
    let facts = try? FileManager.default.attributesOfItem(atPath: path)
    return (facts?[.size] as? NSNumber)?.uint64Value
}

/// A file being written, which goes away again unless it is kept.
final class FreshFile: @unchecked Sendable {
    let url: URL
    private let handle: FileHandle
    private var isKept = false

    init(in folder: URL) throws {
        url = folder.appendingPathComponent("direct-http-\(UUID().uuidString).download")
        let owner: [FileAttributeKey: Any] = [.posixPermissions: NSNumber(value: 0o600)]
        guard FileManager.default.createFile(atPath: url.path, contents: nil, attributes: owner) else {
            throw URLError(.cannotCreateFile, "no file can be made for the download", for: url)
        }
        do {
            handle = try FileHandle(forWritingTo: url)
        } catch {
            throw URLError(.cannotOpenFile, "\(error)", for: url)
        }
    }

    deinit {
        try? handle.close()
        if !isKept { try? FileManager.default.removeItem(at: url) }
    }

    func append(_ bytes: [UInt8]) throws {
        do {
            try handle.write(contentsOf: bytes)
        } catch {
            throw URLError(.cannotWriteToFile, "\(error)", for: url)
        }
    }

    func keep() throws -> URL {
        do {
            try handle.close()
        } catch {
            throw URLError(.cannotCloseFile, "\(error)", for: url)
        }
        isKept = true
        return url
    }
}

/// Runs what waits for a disk where neither the loop nor Swift's threads wait for it.
func offLoop<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    let outcome: Result<Value, any Error>
    do {
        outcome = try await BlockingWork.shared.run(until: .never, on: .shared) { Result { try work() } }
    } catch {
        throw CancellationError()
    }
    return try outcome.get()
}
