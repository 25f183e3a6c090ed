import DirectHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The system's `write`: in the type below the name is taken.
private func put(_ bytes: UnsafeRawBufferPointer) -> Int {
    write(STDERR_FILENO, bytes.baseAddress, bytes.count)
}

/// A bar on the standard error, if that is a terminal.
struct ProgressBar: Sendable {
    private let name: String
    private let isShown = isatty(STDERR_FILENO) == 1
    private static let width = 30

    init(_ name: String) {
        self.name = name
    }

    func show(_ progress: TransferProgress) {
        guard isShown, let total = progress.total, total > 0 else { return }
        let share = min(Self.width, Int(progress.bytes * UInt64(Self.width) / total))
        let bar = String(repeating: "#", count: share) + String(repeating: ".", count: Self.width - share)
        Self.write("\r[\(bar)] \(progress.bytes * 100 / total) % \(name)")
    }

    /// Replaces the bar by a line.
    func end(_ words: String) {
        if isShown { Self.write("\r\u{1B}[K") }
        print("\(name): \(words)")
    }

    private static func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { put($0) }
    }
}
