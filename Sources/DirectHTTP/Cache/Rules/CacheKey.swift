internal import DirectCore
internal import DirectIO
internal import DirectHTTP1
internal import DirectTLS

/// The key of cache entries: a digest of the URL, since its query may contain secrets.
///
/// The URL identifies the host by name. The addresses and the proxy that a request goes to are not part of
/// the key.
struct CacheKey: Hashable, Sendable {
    let digest: Digest128

    init?(_ url: HTTPURL) {
        guard let digest = Digest128(Array(url.withoutFragment.text.utf8)) else { return nil }
        self.digest = digest
    }

    init(digest: Digest128) {
        self.digest = digest
    }

    /// One of 65,536 groups of URLs, which share their marks.
    var slot: UInt16 { UInt16(truncatingIfNeeded: digest.low) }
}

/// Half of a SHA-256 digest, which is still long enough that no second input with the same digest can be
/// found.
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

    /// The digest as 32 hexadecimal digits.
    var text: String {
        Hex.encode(padded: high) + Hex.encode(padded: low)
    }
}

/// Identifies one of the responses for a URL by the request fields that it was selected by.
///
/// Only a digest of their values is stored, since they may be secret; on a disk it depends on the folder's
/// key, too, so that a guess cannot be checked against files from elsewhere.
struct CacheVariant: Hashable, Sendable {
    let names: VaryNames
    let digest: Digest128

    init(names: VaryNames, digest: Digest128) {
        self.names = names
        self.digest = digest
    }

    /// - Parameter key: The key of the store.
    init?(_ names: VaryNames, _ fields: VaryFields, key: [UInt8]) {
        self.names = names
        guard !names.names.isEmpty else {
            digest = Digest128(high: 0, low: 0)
            return
        }
        // The names begin with a letter or a colon, and no value contains the byte that ends them, but for
        // the asker's: its length is in front.
        var text = key
        for name in names.names {
            text += name.utf8
            // An empty value differs from a missing field.
            if name == VaryNames.asker {
                text += " \(fields.asker.text.count):".utf8 + fields.asker.text
            } else if let value = fields[name] {
                text += ":\(value)".utf8
            }
            text.append(0x0a)
        }
        guard let digest = Digest128(text) else { return nil }
        self.digest = digest
    }
}

/// The variants that a request selects, computed once for each set of names.
struct SelectedVariants {
    private let fields: VaryFields
    private let key: [UInt8]
    private var known: [VaryNames: CacheVariant] = [:]

    init(_ fields: VaryFields, key: [UInt8]) {
        self.fields = fields
        self.key = key
    }

    /// Whether the request selects this variant.
    mutating func contain(_ variant: CacheVariant) -> Bool {
        guard variant.names.suit(fields) else { return false }
        if variant.names.names.isEmpty { return true }
        if let own = known[variant.names] { return own == variant }
        guard let own = CacheVariant(variant.names, fields, key: key) else { return false }
        known[variant.names] = own
        return own == variant
    }
}

extension CachedHead {
    /// Whether this response takes the place of one for the same requests: not if its request came before,
    /// and it was not generated later. A slow old response would bring back what has changed.
    func replaces(_ other: CachedHead) -> Bool {
        requestNumber >= other.requestNumber || isDated && date > other.date
            // The clock was set back since.
            || other.requestNumber > Self.nextRequestNumber()
    }

    /// Whether this response was generated later than the other one, or asked for later if their dates do not
    /// tell. Of several suitable responses the latest is used (RFC 9111, section 4.1).
    func isNewer(than other: CachedHead) -> Bool {
        isDated && other.isDated && date != other.date
            ? date > other.date : requestNumber >= other.requestNumber
    }

    private var date: UnixTime { headers.date("date", now: responseTime) ?? responseTime }
}
