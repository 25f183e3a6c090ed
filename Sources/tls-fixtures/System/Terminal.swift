#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Standard output and error, written at once and not when a buffer is full.
enum Terminal {
    static var isTerminal: Bool { isatty(1) == 1 }

    static func write(_ text: String) { write(text, to: 1) }

    static func complain(_ text: String) { write(text + "\n", to: 2) }

    /// The same without control characters, which a client's words may hold.
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
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            // Nobody reads any more: nothing to be done about it here.
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    private static func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        #if canImport(Darwin)
        Darwin.write(descriptor, bytes, count)
        #elseif canImport(Musl)
        Musl.write(descriptor, bytes, count)
        #else
        Glibc.write(descriptor, bytes, count)
        #endif
    }
}
