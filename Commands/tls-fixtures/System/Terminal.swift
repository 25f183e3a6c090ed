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
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                systemWrite(descriptor, bytes: $0.baseAddress, count: $0.count)
            }
            if count < 0 && errno == EINTR { continue }
            // The reader has closed the pipe. There is nothing left to do.
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    private static func systemWrite(_ descriptor: Int32, bytes: UnsafeRawPointer?, count: Int) -> Int {
        #if canImport(Darwin)
        Darwin.write(descriptor, bytes, count)
        #elseif canImport(Musl)
        Musl.write(descriptor, bytes, count)
        #else
        Glibc.write(descriptor, bytes, count)
        #endif
    }
}
