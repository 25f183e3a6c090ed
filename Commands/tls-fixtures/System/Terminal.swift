internal import CommandKit

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Standard output and standard error without buffering.
enum Terminal {
    static var isTerminal: Bool { isatty(1) == 1 }

    /// Writes to standard output.
    static func write(_ text: String) { write(text, to: 1) }

    /// Writes a line to standard error.
    static func complain(_ text: String) { write(text + "\n", to: 2) }

    /// Replaces control characters, which the output of a client may contain, with question marks.
    static func harmless(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    scalar.properties.generalCategory == .control && scalar != "\n" ? "?" : scalar
                }
            )
        )
    }

    private static func write(_ text: String, to descriptor: Int32) {
        // If the reader has closed the pipe, there is nothing left to do.
        _ = writeAll(Array(text.utf8), to: descriptor)
    }
}
