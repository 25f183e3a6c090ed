internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// The format of a file with a response:
///
///     prologue  "DHCACHE3", checksum of what follows up to the content, length of the content (8 bytes
///               each), length of the head (4), zero (4), key (16), mark (8)
///     head      variant (16), times and number of the request (8 each), whether it is dated (1), status (2),
///               version (1), names of selecting fields, reason, fields
///     content   blocks of 64 KiB, the last one shorter, with a checksum (8) after each
///
/// Numbers are little-endian. The content is stored as received, with its codings.
enum EntryFile {
    static let blockSize = 64 * 1024
    static let prologueSize = 56
    private static let checksumSize = 8
    private static let format = StoredFormat("DHCACHE", version: 3)
    private static let headLimit = 4 << 20
    /// A sparse file may have any size. Of this one the positions of all blocks can still be computed.
    private static let longestContent = Int.max / 2

    /// Whether a file that begins with these bytes is one of another version of this format.
    static func age(_ bytes: [UInt8]) -> StoredFormat.Age { format.age(of: bytes) }

    /// The part of a file before the content.
    struct Front: Sendable {
        var key: CacheKey
        var variant: CacheVariant
        /// The state of the URL when the request was sent: if it is another one by now, the response is from
        /// before a change.
        var mark: CacheMark
        var head: CachedHead
        var length: Int
        /// The offset of the content.
        var contentStart: Int
    }

    /// The offset of a block, relative to the start of the content.
    static func blockOffset(_ index: Int) -> Int { index * (blockSize + checksumSize) }

    /// The size of the content in the file, checksums included.
    static func contentSize(_ length: Int) -> Int {
        length + (length + blockSize - 1) / blockSize * checksumSize
    }

    /// Encodes the prologue and the head; `nil` if a field is too long or there are too many.
    static func front(_ plan: DraftPlan, length: Int) -> [UInt8]? {
        guard let head = encode(plan.variant, cached: plan.head), head.count <= headLimit else { return nil }
        var rest = StoredBytesWriter()
        rest.add(UInt64(length))
        rest.add(UInt32(head.count))
        rest.add(UInt32(0))
        rest.add(plan.key.digest)
        rest.add(plan.mark.number)
        let checked = rest.bytes + head
        var all = StoredBytesWriter()
        all.add(format.magic)
        all.add(Checksum.of(checked))
        return all.bytes + checked
    }

    /// Encodes a block of content with its checksum.
    static func block(_ bytes: ArraySlice<UInt8>, index: Int) -> [UInt8] {
        var check = StoredBytesWriter()
        check.add(Checksum.of(bytes, seed: UInt64(index) + 1))
        return bytes + check.bytes
    }

    /// Returns the content of a block; `nil` if its checksum is wrong.
    static func content(ofBlock bytes: ArraySlice<UInt8>, index: Int) -> ArraySlice<UInt8>? {
        guard bytes.count > checksumSize else { return nil }
        let content = bytes.dropLast(checksumSize)
        var check = StoredBytesReader(Array(bytes.suffix(checksumSize)))
        return check.number() == Checksum.of(content, seed: UInt64(index) + 1) ? content : nil
    }

    /// Returns the number of bytes before the content, read from the start of a file; `nil` if it is not such
    /// a file.
    static func frontSize(_ bytes: [UInt8]) -> Int? {
        var reader = StoredBytesReader(bytes)
        guard reader.number() == format.magic, reader.number(UInt64.self) != nil,
            reader.number(UInt64.self) != nil,
            let headSize = reader.number(UInt32.self), headSize <= headLimit
        else { return nil }
        return prologueSize + Int(headSize)
    }

    /// Decodes prologue and head, which are the whole of `bytes`, from a file of the given size.
    static func front(_ bytes: [UInt8], fileSize: Int) -> Front? {
        var reader = StoredBytesReader(bytes)
        guard frontSize(bytes) == bytes.count, reader.number(UInt64.self) != nil,
            reader.number() == Checksum.of(bytes[16...]), let length = reader.number(UInt64.self),
            let length = Int(exactly: length), length <= min(fileSize, longestContent),
            fileSize == bytes.count + contentSize(length), reader.number(UInt64.self) != nil,
            let key = reader.digest(), let mark = reader.number(UInt64.self),
            let (variant, head) = decode(&reader)
        else { return nil }
        return Front(
            key: CacheKey(digest: key),
            variant: variant,
            mark: CacheMark(number: mark),
            head: head,
            length: length,
            contentStart: bytes.count
        )
    }

    private static func encode(_ variant: CacheVariant, cached: CachedHead) -> [UInt8]? {
        let head = cached.head
        var writer = StoredBytesWriter()
        writer.add(variant.digest)
        writer.add(cached.requestTime.seconds)
        writer.add(cached.responseTime.seconds)
        writer.add(cached.requestNumber)
        writer.add(cached.isDated ? UInt8(1) : 0)
        writer.add(head.status.code)
        writer.add(head.version == .http11 ? UInt8(1) : 0)
        writer.add(UInt16(clamping: variant.names.names.count))
        for name in variant.names.names { writer.add(name.utf8) }
        writer.add(head.reason.utf8)
        writer.add(UInt16(clamping: head.headers.count))
        for index in head.headers.indices {
            let name = head.headers[index].name
            let value = head.headers.valueBytes(at: index)
            guard name.utf8.count <= UInt16.max, value.count <= UInt16.max else { return nil }
            writer.add(name.utf8)
            writer.add(value)
        }
        guard head.headers.count <= UInt16.max, variant.names.names.count <= UInt16.max else { return nil }
        return writer.bytes
    }

    private static func decode(_ reader: inout StoredBytesReader) -> (CacheVariant, CachedHead)? {
        guard let digest = reader.digest(), let requestTime = reader.number(Int64.self),
            let responseTime = reader.number(Int64.self), let number = reader.number(UInt64.self),
            let isDated = reader.number(UInt8.self), let code = reader.number(UInt16.self),
            let status = HTTPStatus(code: Int(code)), let version = reader.number(UInt8.self),
            let names = list(&reader), let reason = reader.text(), let count = reader.number(UInt16.self)
        else { return nil }
        var headers = HTTPHeaders()
        for _ in 0..<count {
            guard let name = reader.text(), let value = reader.text() else { return nil }
            headers.add(String(decoding: name, as: UTF8.self), bytes: value)
        }
        guard reader.isAtEnd else { return nil }
        let head = ResponseHead(
            status: status,
            reason: String(decoding: reason, as: UTF8.self),
            version: version == 1 ? .http11 : .http10,
            headers: headers
        )
        var cached = CachedHead(
            head,
            requestTime: UnixTime(seconds: requestTime),
            responseTime: UnixTime(seconds: responseTime)
        )
        cached.requestNumber = number
        cached.isDated = isDated == 1
        return (CacheVariant(names: VaryNames(names: names), digest: digest), cached)
    }

    private static func list(_ reader: inout StoredBytesReader) -> [String]? {
        guard let count = reader.number(UInt16.self) else { return nil }
        var names: [String] = []
        for _ in 0..<count {
            guard let name = reader.text() else { return nil }
            names.append(String(decoding: name, as: UTF8.self))
        }
        return names
    }
}

/// The index of a URL whose responses depend on the request: the sets of request fields that select them.
struct VariantIndex: Equatable, Sendable {
    /// The sets of field names, the most recently used first.
    var sets: [VaryNames] = []

    private static let format = StoredFormat("DHCVARY", version: 2)
    private static let limit = 8

    init() {}

    /// Whether a file that begins with these bytes is one of another version of this format.
    static func age(_ bytes: [UInt8]) -> StoredFormat.Age { format.age(of: bytes) }

    /// Moves a set of names to the front. Returns whether that changed the index.
    mutating func note(_ names: VaryNames) -> Bool {
        guard sets.first != names else { return false }
        sets.removeAll { $0 == names }
        sets.insert(names, at: 0)
        sets = Array(sets.prefix(Self.limit))
        return true
    }

    init?(_ bytes: [UInt8], _ key: CacheKey) {
        var reader = StoredBytesReader(bytes)
        guard reader.number() == Self.format.magic, bytes.count >= 16,
            reader.number() == Checksum.of(bytes[16...]), reader.digest() == key.digest,
            let count = reader.number(UInt8.self), count <= Self.limit
        else { return nil }
        for _ in 0..<count {
            guard let names = reader.text() else { return nil }
            let texts = names.split(separator: 0x2c).map { String(decoding: $0, as: UTF8.self) }
            sets.append(VaryNames(names: texts))
        }
        guard reader.isAtEnd else { return nil }
    }

    func bytes(_ key: CacheKey) -> [UInt8] {
        var rest = StoredBytesWriter()
        rest.add(key.digest)
        rest.add(UInt8(sets.count))
        for names in sets { rest.add(names.names.joined(separator: ",").utf8) }
        var all = StoredBytesWriter()
        all.add(Self.format.magic)
        all.add(Checksum.of(rest.bytes))
        return all.bytes + rest.bytes
    }
}

/// The first eight bytes of a file: seven letters and a digit, the version.
struct StoredFormat: Sendable {
    /// The age of a file in relation to this version.
    enum Age {
        case older
        case same
        case newer
        /// It is no such file.
        case none
    }

    let magic: UInt64

    init(_ name: String, version: UInt8) {
        let letters = name.utf8.reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        magic = letters | UInt64(UInt8(ascii: "0") + version) << 56
    }

    /// The age of a file that begins with these bytes.
    func age(of bytes: [UInt8]) -> Age {
        var reader = StoredBytesReader(bytes)
        guard let found = reader.number(UInt64.self), (found ^ magic) << 8 == 0,
            UInt8(ascii: "1")...UInt8(ascii: "9") ~= UInt8(found >> 56)
        else { return .none }
        return found == magic ? .same : found < magic ? .older : .newer
    }
}
