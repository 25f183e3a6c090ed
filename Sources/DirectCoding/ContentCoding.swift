/// A way of coding content that can be undone (RFC 9110, section 8.4.1).
package enum ContentCoding: Hashable, Sendable {
    case gzip
    case deflate
    case brotli
    case zstd
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
    package var name: String {
        switch self {
        case .gzip: "gzip"
        case .deflate: "deflate"
        case .brotli: "br"
        case .zstd: "zstd"
        }
    }
}
