/// The path and the query as a request line contains them (origin-form, RFC 9112, section 3.2.1).
///
/// Dot segments are removed, even if a dot is written `%2e`, and bytes that are not allowed in a path or
/// query are escaped, both as the WHATWG URL Standard defines it. Other escapes are kept as they are written:
/// to a server, `%7E` and `~` may be two resources.
struct URLTarget {
    /// The path, and the query after its question mark.
    let bytes: [UInt8]
    /// The number of bytes that are the path.
    let pathLength: Int

    /// Creates the target of a reference that has an authority, or a path that begins with a slash.
    @inline(__always)
    init(_ text: Span<UInt8>, _ parts: URLParts) {
        guard !parts.path.isEmpty, !parts.needsNormalization else {
            self.init(rewriting: text, parts, below: [])
            return
        }
        let bytes = [UInt8](copying: text.extracting(parts.path.lowerBound..<parts.endOfQuery))
        self.init(bytes: bytes, pathLength: parts.path.count)
    }

    /// Creates the target of a relative reference (RFC 3986, section 5.2.2).
    init(_ text: Span<UInt8>, _ parts: URLParts, relativeTo base: URLTarget) {
        if parts.path.isEmpty {
            guard let query = parts.query else {
                self = base
                return
            }
            var bytes = Array(base.bytes[..<base.pathLength])
            bytes.appendQuery(text.extracting(query))
            self.init(bytes: bytes, pathLength: base.pathLength)
        } else if text[parts.path.lowerBound] == UInt8(ascii: "/") {
            self.init(text, parts)
        } else {
            let lastSlash = base.bytes[..<base.pathLength].lastIndex(of: UInt8(ascii: "/")) ?? 0
            self.init(rewriting: text, parts, below: base.bytes[..<lastSlash])
        }
    }

    /// Creates a target with its dot segments removed and its bytes escaped; the path is appended to
    /// `folder`.
    private init(rewriting text: Span<UInt8>, _ parts: URLParts, below folder: ArraySlice<UInt8>) {
        guard !parts.path.isEmpty || parts.query != nil else {
            self = .root
            return
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(folder.count + parts.endOfQuery - parts.path.lowerBound + 2)
        bytes += folder
        bytes.appendPath(text.extracting(parts.path))
        let pathLength = bytes.count
        if let query = parts.query { bytes.appendQuery(text.extracting(query)) }
        self.init(bytes: bytes, pathLength: pathLength)
    }

    init(bytes: [UInt8], pathLength: Int) {
        self.bytes = bytes
        self.pathLength = pathLength
    }

    /// The target `/`.
    static let root = URLTarget(bytes: [UInt8(ascii: "/")], pathLength: 1)
}

extension URLParts {
    fileprivate var endOfQuery: Int { query?.upperBound ?? path.upperBound }
}

extension [UInt8] {
    /// Appends the segments of a path, each after a slash, to the folder in these bytes, which has no slash
    /// at its end. `..` removes the last segment.
    fileprivate mutating func appendPath(_ path: Span<UInt8>) {
        var start = !path.isEmpty && path[0] == UInt8(ascii: "/") ? 1 : 0
        while true {
            var end = start
            while end < path.count, path[end] != UInt8(ascii: "/") { end += 1 }
            let segment = path.extracting(start..<end)
            let dots = segment.dots
            if dots == 2 { removeSubrange((lastIndex(of: UInt8(ascii: "/")) ?? 0)...) }
            if dots == nil {
                append(UInt8(ascii: "/"))
                appendEscaped(segment, where: \.isAllowedInPath)
            } else if end == path.count {
                append(UInt8(ascii: "/"))
            }
            guard end < path.count else { return }
            start = end + 1
        }
    }

    /// Appends a question mark and the query, escaped.
    fileprivate mutating func appendQuery(_ query: Span<UInt8>) {
        append(UInt8(ascii: "?"))
        appendEscaped(query, where: \.isAllowedInQuery)
    }

    /// Appends the bytes; those that do not satisfy the predicate are escaped as `%XX`.
    mutating func appendEscaped(_ text: Span<UInt8>, where stands: (UInt8) -> Bool) {
        for index in text.indices {
            let byte = text[index]
            if stands(byte) {
                append(byte)
            } else {
                append(UInt8(ascii: "%"))
                append(Hex.upperCaseDigit(byte >> 4))
                append(Hex.upperCaseDigit(byte & 0xF))
            }
        }
    }
}

extension Span<UInt8> {
    /// The number of dots of a segment that consists of one or two dots, each of which may be written `%2e`;
    /// `nil` for any other segment.
    fileprivate var dots: Int? {
        guard !isEmpty, count <= 6 else { return nil }
        var dots = 0
        var position = 0
        while position < count {
            if self[position] == UInt8(ascii: ".") {
                position += 1
            } else if isEscapedDot(at: position) {
                position += 3
            } else {
                return nil
            }
            dots += 1
        }
        return dots <= 2 ? dots : nil
    }
}
