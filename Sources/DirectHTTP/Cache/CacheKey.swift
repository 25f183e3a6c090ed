internal import DirectIO
internal import DirectHTTP1
internal import DirectTLS

/// What kept responses are found by: a digest of the URL, whose queries may hold secrets.
///
/// The URL is the name's. Where a request goes, its addresses and its proxy, has no part in it.
struct CacheKey: Hashable, Sendable {
    let digest: Digest128

    init?(_ url: HTTPURL) {
        guard let digest = Digest128(Array(url.withoutFragment.text.utf8)) else { return nil }
        self.digest = digest
    }

    init(digest: Digest128) {
        self.digest = digest
    }
}

/// Half of a SHA-256, which is still more than anybody can find a second text for.
struct Digest128: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    init?(_ bytes: [UInt8]) {
        guard let digest = MessageDigest.sha256.digest(of: bytes), digest.count >= 16 else { return nil }
        high = digest[0..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = digest[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// 32 hexadecimal digits.
    var text: String {
        [high, low].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

/// Which of a URL's responses: by the values of the fields that it was selected by, of which only a digest is
/// kept, for they may be secret.
struct CacheVariant: Hashable, Sendable {
    let names: SelectingNames
    let digest: Digest128

    init(names: SelectingNames, digest: Digest128) {
        self.names = names
        self.digest = digest
    }

    init?(_ names: SelectingNames, _ fields: SelectingFields) {
        self.names = names
        guard !names.names.isEmpty else {
            digest = Digest128(high: 0, low: 0)
            return
        }
        var text: [UInt8] = []
        for name in names.names {
            text += name.utf8
            // An empty value is another thing than none.
            if let value = fields[name] { text += ":\(value)".utf8 }
            text.append(0x0a)
        }
        guard let digest = Digest128(text) else { return nil }
        self.digest = digest
    }
}

/// Which variants a request selects, each set of names worked out once.
struct SelectedVariants {
    private let fields: SelectingFields
    private var known: [SelectingNames: CacheVariant] = [:]

    init(_ fields: SelectingFields) {
        self.fields = fields
    }

    mutating func contain(_ variant: CacheVariant) -> Bool {
        guard variant.names.suit(fields) else { return false }
        if variant.names.names.isEmpty { return true }
        if let own = known[variant.names] { return own == variant }
        guard let own = CacheVariant(variant.names, fields) else { return false }
        known[variant.names] = own
        return own == variant
    }
}

extension CachedHead {
    /// Of several that are good for a request the one that was made last is taken (RFC 9111, section 4.1).
    func isNewer(than other: CachedHead) -> Bool {
        let dates = [self, other].map { $0.headers.date("date", now: $0.responseTime) ?? $0.responseTime }
        return (dates[0].seconds, responseTime.seconds) >= (dates[1].seconds, other.responseTime.seconds)
    }
}
