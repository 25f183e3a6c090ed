/// A content coding that can be decoded (RFC 9110, section 8.4.1).
public enum ContentCoding: String, Hashable, Sendable {
    /// The gzip format (RFC 1952), also under its old name `x-gzip`.
    case gzip
    /// The zlib format (RFC 1950), or the bare deflated data that some servers send under this name.
    case deflate
    /// Brotli (RFC 7932).
    case brotli = "br"
    /// Zstandard (RFC 8878).
    case zstd

    /// The codings that this build can decode: `gzip` and `deflate`, and `br` and `zstd` if their package
    /// traits are enabled.
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
    /// The coding with this name in a field, in any case; `nil` if it is unknown.
    package init?(name: String) {
        switch name.lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        case "br": self = .brotli
        case "zstd": self = .zstd
        default: return nil
        }
    }

    /// The name as it appears in `Content-Encoding` and `Accept-Encoding`.
    package var name: String { rawValue }

    /// Whether this build can decode the coding.
    package var isAvailable: Bool { Self.available.contains(self) }
}

extension ContentCoding {
    /// Returns the codings that all `Content-Encoding` values list, the one applied last at the end; `nil` if
    /// one of them cannot be decoded.
    ///
    /// The limit holds for all codings in all fields together: a chain that is only counted per field, or
    /// only up to the first unknown name, has no limit (CVE-2023-23916).
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
                // `identity` says that no coding was applied (RFC 9110, section 12.5.3), and should not be
                // there at all.
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
