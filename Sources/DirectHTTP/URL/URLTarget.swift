/// Path and query as a request line says them (origin-form, RFC 9112, section 3.2.1).
///
/// Dot segments are removed, also where a dot is written `%2e`, and bytes that may not stand in a path or
/// query are escaped, both as the WHATWG URL Standard has it. Other escapes are kept as they are written:
/// `%7E` and `~` may be two resources to a server.
struct URLTarget {
    let bytes: [UInt8]
    let pathLength: Int

    /// The target of a reference that brings a path from the root, or an authority.
    @inline(__always)
    init(_ text: Span<UInt8>, _ parts: URLParts) {
        guard !parts.path.isEmpty, !parts.needsRewriting else {
            self.init(rewriting: text, parts, below: [])
            return
        }
        let bytes = [UInt8](copying: text.extracting(parts.path.lowerBound..<parts.endOfQuery))
        self.init(bytes: bytes, pathLength: parts.path.count)
    }

    /// The target of a relative reference (RFC 3986, section 5.2.2).
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

    static let root = URLTarget(bytes: [UInt8(ascii: "/")], pathLength: 1)
}

extension URLParts {
    fileprivate var endOfQuery: Int { query?.upperBound ?? path.upperBound }
}

extension [UInt8] {
    /// Appends the segments of a path, each behind a slash, to the folder that stands here (which has no
    /// slash at its end); `..` takes the last segment away again.
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
                appendEscaped(segment, where: \.standsInPath)
            } else if end == path.count {
                append(UInt8(ascii: "/"))
            }
            guard end < path.count else { return }
            start = end + 1
        }
    }

    fileprivate mutating func appendQuery(_ query: Span<UInt8>) {
        append(UInt8(ascii: "?"))
        appendEscaped(query, where: \.standsInQuery)
    }

    /// Appends the bytes, those that do not stand here as `%XX`.
    mutating func appendEscaped(_ text: Span<UInt8>, where stands: (UInt8) -> Bool) {
        for index in text.indices {
            let byte = text[index]
            if stands(byte) {
                append(byte)
            } else {
                append(UInt8(ascii: "%"))
                append(Self.upperCaseDigit(byte >> 4))
                append(Self.upperCaseDigit(byte & 0xF))
            }
        }
    }

    private static func upperCaseDigit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? nibble + 0x30 : nibble + 0x37
    }
}

extension Span<UInt8> {
    /// 1 or 2 for a segment that is one or two dots, each perhaps written `%2e`; `nil` for any other.
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
