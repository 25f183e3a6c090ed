internal import DirectCore
internal import DirectIO

/// Reads and writes state files, which hold one item per line. The work is done on threads that may block, not on
/// the caller's.
enum StateText {
    /// The size limit; larger files are refused.
    private static let largestFile = 64 * 1024 * 1024

    /// Returns the bytes of the file, or none if the file does not exist.
    static func load(_ path: String) async throws -> [UInt8] {
        try await BlockingWork.shared.run(until: .never, on: .shared) {
            () -> Result<[UInt8], SystemError> in
            do throws(SystemError) {
                return .success(try StateFile.read(path, limit: largestFile) ?? [])
            } catch {
                return .failure(error)
            }
        }.get()
    }

    /// Replaces the file atomically.
    static func save(_ bytes: [UInt8], to path: String) async throws {
        try await BlockingWork.shared.run(until: .never, on: .shared) {
            () -> Result<Void, SystemError> in
            do throws(SystemError) {
                return .success(try StateFile.replace(path, with: bytes))
            } catch {
                return .failure(error)
            }
        }.get()
    }

    /// Calls `body` for each line that is not empty, and returns the errors that it throws, with their line
    /// numbers.
    static func readLines(
        of bytes: [UInt8],
        _ body: (ArraySlice<UInt8>) throws(LineError) -> Void
    ) -> [LineFault] {
        var faults: [LineFault] = []
        var number = 0
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            let text = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            guard !text.isEmpty else { continue }
            do throws(LineError) {
                try body(text)
            } catch {
                faults.append(LineFault(line: number, reason: error.reason))
            }
        }
        return faults
    }
}

/// The reason why a line cannot be read.
struct LineError: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
