internal import CommandKit
internal import DirectCore

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Writes small files.
enum FileWriter {
    /// A file or folder that could not be written, with the system's reason.
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ path: String, _ code: Int32) { description = "\(path): \(errnoText(code))" }
    }

    /// Makes a folder, unless there is one.
    static func makeFolder(_ path: String) throws(Failure) {
        guard mkdir(path, 0o755) == 0 || Files.isFolder(path) else { throw Failure(path, errno) }
    }

    /// Writes a text to a file, which appears at once and whole.
    ///
    /// - Parameter isSecret: Whether nobody else may read it.
    static func write(_ text: String, to path: String, isSecret: Bool) throws(Failure) {
        let other = "\(path).new"
        let descriptor = open(other, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, isSecret ? 0o600 : 0o644)
        guard descriptor >= 0 else { throw Failure(other, errno) }
        let code = writeAll(Array(text.utf8), to: descriptor)
        close(descriptor)
        guard code == 0 else { throw Failure(other, code) }
        guard rename(other, path) == 0 else { throw Failure(path, errno) }
    }
}
