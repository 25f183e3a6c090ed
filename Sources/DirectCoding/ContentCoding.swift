/// A way of coding content that can be undone (RFC 9110, section 8.4.1).
public enum ContentCoding: String, Hashable, Sendable {
    case gzip
    case deflate
    case brotli = "br"
    case zstd

    /// Those that this build can undo: `gzip` and `deflate`, and with their traits `br` and `zstd`.
    public static var available: [ContentCoding] {
        var codings: [ContentCoding] = [.gzip, .deflate]
        #if Brotli
        codings.append(.brotli)
        #endif
        #if Zstd
        codings.append(.zstd)
        #endif
        return codings
    }
}

extension ContentCoding {
    /// The coding that a field calls so, in any case; nothing if it is unknown.
    package init?(name: String) {
        switch name.lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        case "br": self = .brotli
        case "zstd": self = .zstd
        default: return nil
        }
    }

    /// As in `Content-Encoding` and `Accept-Encoding`.
    package var name: String { rawValue }

    package var isAvailable: Bool { Self.available.contains(self) }
}

extension ContentCoding {
    /// The codings that the values of all `Content-Encoding` fields list, the last one applied last; nothing if
    /// one of them cannot be undone.
    ///
    /// All that is listed counts, over all fields: a chain that is no longer looked at is one nobody limits
    /// (CVE-2023-23916).
    package static func chain(
        listedIn values: [String],
        atMost limit: Int
    ) throws(CodingError) -> [ContentCoding]? {
        var codings: [ContentCoding] = []
        var count = 0, isKnown = true
        for value in values {
            for element in value.utf8.split(separator: UInt8(ascii: ",")) {
                let name = element.trimmingBlanks
                guard !name.isEmpty else { continue }
                count += 1
                guard count <= limit else { throw .tooManyCodings(limit: limit) }
                let text = String(name)
                // Says that nothing was done (RFC 9110, section 12.5.3), and should not be there at all.
                if text?.lowercased() == "identity" { continue }
                if let text, let coding = ContentCoding(name: text), coding.isAvailable {
                    codings.append(coding)
                } else {
                    isKnown = false
                }
            }
        }
        return isKnown ? codings : nil
    }
}

extension Substring.UTF8View {
    fileprivate var trimmingBlanks: Substring.UTF8View {
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) })
        else { return self[endIndex..<endIndex] }
        return self[first...last]
    }
}
