import DirectCore
import DirectHTTP1

@testable import DirectHTTP

extension FuzzTarget {
    /// Files of the cache: entries and indexes, damaged or made up, with checksums that are right.
    ///
    /// - Any bytes are refused, or decoded to what is encoded to the same bytes again.
    /// - A block of content with one changed bit is refused, and so is a block at another place.
    static let cacheEntry = FuzzTarget(name: "cache-entry") { choices in
        let kind = choices.number(below: 4)
        let place = choices.number(below: 65536)
        let length = choices.number(below: 4096)
        let bytes = choices.rest()
        switch kind {
        case 0: checkFront(bytes, fileSize: bytes.count + length)
        case 1:
            let front = frontWithChecksum(bytes, length: length)
            checkFront(front, fileSize: front.count + EntryFile.contentSize(length))
        case 2: checkIndex(bytes)
        default: checkBlock(bytes, place: place)
        }
    }
}

/// A prologue with a right checksum before these bytes of a head.
private func frontWithChecksum(_ head: [UInt8], length: Int) -> [UInt8] {
    var rest = StoredBytesWriter()
    rest.add(UInt64(length))
    rest.add(UInt32(head.count))
    rest.add(UInt32(0))
    rest.add(Digest128(high: 1, low: 2))
    rest.add(UInt64(3))
    return withChecksum(rest.bytes + head, magic: "DHCACHE3")
}

private func withChecksum(_ content: [UInt8], magic: String) -> [UInt8] {
    var check = StoredBytesWriter()
    check.add(Checksum.of(content))
    return Array(magic.utf8) + check.bytes + content
}

private func checkFront(_ bytes: [UInt8], fileSize: Int) {
    _ = EntryFile.frontSize(bytes)
    guard let front = EntryFile.front(bytes, fileSize: fileSize) else { return }
    require(front.length >= 0 && front.contentStart == bytes.count, "the content is where it is")
    guard let once = encoded(front) else { return }
    let size = once.count + EntryFile.contentSize(front.length)
    guard let again = EntryFile.front(once, fileSize: size) else {
        return require(false, "an entry is read back")
    }
    requireEqual(encoded(again), once, "an entry is its own normal form")
    requireEqual(again.head.head, front.head.head, "the same head")
    requireEqual(again.variant, front.variant, "the same variant")
}

private func encoded(_ front: EntryFile.Front) -> [UInt8]? {
    let plan = DraftPlan(
        key: front.key,
        variant: front.variant,
        mark: front.mark,
        head: front.head,
        length: UInt64(front.length)
    )
    return EntryFile.front(plan, length: front.length)
}

private func checkIndex(_ bytes: [UInt8]) {
    let key = CacheKey(digest: Digest128(high: 1, low: 2))
    var content = StoredBytesWriter()
    content.add(key.digest)
    for file in [bytes, withChecksum(content.bytes + bytes, magic: "DHCVARY2")] {
        guard let index = VariantIndex(file, key) else { continue }
        require(index.sets.count <= 8, "the limit of sets")
        requireEqual(VariantIndex(index.bytes(key), key), index, "an index is read back")
        let other = CacheKey(digest: Digest128(high: 3, low: 2))
        requireEqual(VariantIndex(file, other), nil, "an index is for its key only")
    }
}

private func checkBlock(_ content: [UInt8], place: Int) {
    guard !content.isEmpty else { return }
    let block = EntryFile.block(content[...], index: place)
    requireEqual(EntryFile.content(ofBlock: block[...], index: place).map(Array.init), content, "a block")
    requireEqual(EntryFile.content(ofBlock: block[...], index: place + 1), nil, "at its place only")
    var damaged = block
    damaged[place % block.count] ^= 1 << UInt8(place % 8)
    requireEqual(EntryFile.content(ofBlock: damaged[...], index: place), nil, "with its bits only")
}
