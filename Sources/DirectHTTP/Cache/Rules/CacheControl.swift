internal import DirectHTTP1

/// The directives in the `Cache-Control` fields of a request or response (RFC 9111, section 5.2).
///
/// Malformed or contradictory directives get the meaning that allows less reuse (section 4.2.1).
struct CacheControl: Hashable, Sendable {
    var noStore = false
    /// `no-cache` without field names. Names are in `noCacheFields`.
    var noCache = false
    /// The fields that must not be reused without revalidation, in lower case.
    var noCacheFields: [String] = []
    var mustRevalidate = false
    var mustUnderstand = false
    var isPublic = false
    var onlyIfCached = false
    /// In seconds; 0 if the value is malformed or contradictory.
    var maxAge: Int64?
    var minFresh: Int64?
    /// In seconds; `Int64.max` if the directive has no value.
    var maxStale: Int64?
    var staleWhileRevalidate: Int64?
    var staleIfError: Int64?

    init() {}

    init(_ headers: HTTPHeaders) {
        var next = headers.index(of: "cache-control")
        while let index = next {
            var scan = DirectiveScan(headers.valueBytes(at: index))
            while let directive = scan.next() { take(directive) }
            next = headers.index(of: "cache-control", from: index + 1)
        }
    }

    private mutating func take(_ directive: Directive) {
        switch directive.name {
        case "no-store": noStore = true
        case "no-cache": restrict(to: directive)
        case "must-revalidate": mustRevalidate = true
        case "must-understand": mustUnderstand = true
        case "public": isPublic = true
        case "only-if-cached": onlyIfCached = true
        case "max-age":
            let seconds = directive.seconds ?? 0
            // Different values: the response counts as stale (RFC 9111, section 4.2.1).
            maxAge = maxAge == nil || maxAge == seconds ? seconds : 0
        case "min-fresh": minFresh = max(minFresh ?? 0, directive.seconds ?? 0)
        case "max-stale":
            let bound = directive.argument == .none ? Int64.max : directive.seconds
            if let bound { maxStale = min(maxStale ?? .max, bound) }
        case "stale-while-revalidate":
            if let window = directive.seconds {
                staleWhileRevalidate = min(staleWhileRevalidate ?? .max, window)
            }
        case "stale-if-error":
            if let window = directive.seconds { staleIfError = min(staleIfError ?? .max, window) }
        // `s-maxage`, `proxy-revalidate` and `private` only concern shared caches.
        default: break
        }
    }

    /// Applies `no-cache`, with or without field names.
    private mutating func restrict(to directive: Directive) {
        guard case .text(let list) = directive.argument else {
            noCache = true
            return
        }
        let names = list.split { $0 == .comma || $0.isBlank }.map {
            String(decoding: $0, as: UTF8.self).lowercased()
        }
        if names.isEmpty { noCache = true } else { noCacheFields += names }
    }
}

/// Parses a number of seconds (RFC 9111, section 1.2.2): digits only. Larger values are reduced to 2^31, as the RFC
/// allows.
func deltaSeconds(_ bytes: some Collection<UInt8>) -> Int64? {
    guard !bytes.isEmpty else { return nil }
    var seconds: Int64 = 0
    for byte in bytes {
        guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return nil }
        seconds = min(seconds * 10 + Int64(byte - UInt8(ascii: "0")), 1 << 31)
    }
    return seconds
}

/// One directive, with its name in lower case.
private struct Directive {
    enum Argument: Equatable {
        case none
        case text([UInt8])
        /// The argument does not match the grammar.
        case broken
    }

    var name: String
    var argument: Argument

    var seconds: Int64? {
        guard case .text(let bytes) = argument else { return nil }
        return deltaSeconds(bytes)
    }
}

/// Parses the directives of a field in order. The content of a quoted string is never read as a directive.
private struct DirectiveScan {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func next() -> Directive? {
        while position < bytes.count {
            while position < bytes.count, bytes[position].isBlank { position += 1 }
            let name = token()
            guard !name.isEmpty else {
                skipElement()
                continue
            }
            var argument = Directive.Argument.none
            if take(UInt8(ascii: "=")) { argument = self.argument() }
            if !skipElement() { argument = .broken }
            return Directive(name: String(decoding: name, as: UTF8.self).lowercased(), argument: argument)
        }
        return nil
    }

    private mutating func argument() -> Directive.Argument {
        if take(UInt8(ascii: "\"")) {
            guard let text = quoted() else { return .broken }
            return .text(text)
        }
        let text = token()
        return text.isEmpty ? .broken : .text(Array(text))
    }

    private mutating func token() -> ArraySlice<UInt8> {
        let start = position
        while position < bytes.count, bytes[position].isTokenCharacter { position += 1 }
        return bytes[start..<position]
    }

    /// Reads the rest of a quoted string after its opening quote; `nil` if there is no closing quote.
    private mutating func quoted() -> [UInt8]? {
        var text: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\"") { return text }
            if byte == UInt8(ascii: "\\"), position < bytes.count {
                text.append(bytes[position])
                position += 1
            } else {
                text.append(byte)
            }
        }
        return nil
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    /// Skips to the next element. Returns whether only spaces and tabs were skipped.
    @discardableResult
    private mutating func skipElement() -> Bool {
        var isClean = true
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == .comma { return isClean }
            if byte == UInt8(ascii: "\"") { _ = quoted() }
            if !byte.isBlank { isClean = false }
        }
        return isClean
    }
}

extension UInt8 {
    static var comma: UInt8 { 0x2c }

    fileprivate var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}
