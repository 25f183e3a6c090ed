internal import DirectIO

/// Reads and writes the files in which something is kept, a line for each thing. Off the callers' threads.
enum StateText {
    /// Larger files are refused.
    private static let largestFile = 64 * 1024 * 1024

    /// The file's bytes; none if there is no such file.
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

    /// Replaces the file as a whole, or not at all.
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

    /// Calls for each line that is not empty, and collects what is thrown.
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

/// Why a line cannot be read.
struct LineError: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
