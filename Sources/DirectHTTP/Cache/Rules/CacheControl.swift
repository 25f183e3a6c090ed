package import DirectHTTP1

/// The directives in the `Cache-Control` fields of a request or response (RFC 9111, section 5.2).
///
/// Malformed or contradictory directives get the meaning that allows less reuse (section 4.2.1).
package struct CacheControl: Equatable, Sendable {
    package var noStore = false
    /// `no-cache` without field names. Names are in `noCacheFields`.
    package var noCache = false
    /// The fields that must not be reused without revalidation, in lower case.
    var noCacheFields: [String] = []
    var mustRevalidate = false
    var mustUnderstand = false
    var isPublic = false
    var onlyIfCached = false
    /// In seconds; 0 if the value is malformed or contradictory.
    package var maxAge: Int64?
    var minFresh: Int64?
    /// In seconds; `Int64.max` if the directive has no value.
    var maxStale: Int64?
    var staleWhileRevalidate: Int64?
    var staleIfError: Int64?

    init() {}

    package init(_ headers: HTTPHeaders) {
        var next = headers.index(of: "cache-control")
        while let index = next {
            var list = FieldScanner(headers.valueBytes(at: index))
            while var element = list.element() {
                if let directive = element.directive(allowsBlanks: false) { take(directive) }
            }
            next = headers.index(of: "cache-control", from: index + 1)
        }
    }

    private mutating func take(_ directive: FieldScanner.Directive) {
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
    private mutating func restrict(to directive: FieldScanner.Directive) {
        guard case .text(let list) = directive.argument else {
            noCache = true
            return
        }
        let names = list.split { $0 == UInt8(ascii: ",") || $0.isBlank }.map {
            String(decoding: $0, as: UTF8.self).lowercased()
        }
        if names.isEmpty { noCache = true } else { noCacheFields += names }
    }
}

/// Parses a number of seconds (RFC 9111, section 1.2.2): digits only. Larger values are reduced to 2^31, as
/// the RFC allows.
func deltaSeconds(_ bytes: some Collection<UInt8>) -> Int64? {
    guard !bytes.isEmpty else { return nil }
    var seconds: Int64 = 0
    for byte in bytes {
        guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return nil }
        seconds = min(seconds * 10 + Int64(byte - UInt8(ascii: "0")), 1 << 31)
    }
    return seconds
}

extension FieldScanner.Directive {
    fileprivate var seconds: Int64? {
        guard case .text(let bytes) = argument else { return nil }
        return deltaSeconds(bytes)
    }
}
