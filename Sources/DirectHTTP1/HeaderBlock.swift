/// The positions of a field's name and value in the bytes of its block.
struct FieldPlace {
    var nameStart: UInt32
    var nameEnd: UInt32
    var valueStart: UInt32
    var valueEnd: UInt32

    @inline(__always) var nameCount: Int { Int(nameEnd &- nameStart) }
    @inline(__always) var valueCount: Int { Int(valueEnd &- valueStart) }
}

/// The storage of one head: the positions of its fields, followed by its bytes, in one allocation.
///
/// The bytes of a received head are kept as received, including the status line; those of a head built here
/// are its field lines. The block owns its memory. It is changed only while it has a single owner
/// (`isKnownUniquelyReferenced`), so sharing it between threads is safe.
final class HeaderBlock: ManagedBuffer<HeaderBlock.Counts, FieldPlace> {
    struct Counts {
        var fields: Int
        var fieldCapacity: Int
        var bytes: Int
        var byteCapacity: Int
        /// Whether the bytes are exactly the fields' lines, in a form that a request may send. Checked when
        /// lines are added.
        var areLines: Bool
        /// The position of the reason phrase of the response that this block was received with.
        var reason: Range<UInt32>
    }

    @inline(__always)
    static func make(fieldCapacity: Int, byteCapacity: Int) -> HeaderBlock {
        let placesForBytes = (byteCapacity &+ 15) / MemoryLayout<FieldPlace>.stride
        let block = HeaderBlock.create(minimumCapacity: fieldCapacity &+ placesForBytes) { _ in
            Counts(
                fields: 0,
                fieldCapacity: fieldCapacity,
                bytes: 0,
                byteCapacity: placesForBytes &* MemoryLayout<FieldPlace>.stride,
                areLines: true,
                reason: 0..<0
            )
        }
        return unsafe unsafeDowncast(block, to: HeaderBlock.self)
    }

    /// Accessed by pointer: `header` itself checks for overlapping accesses at run time, at 80 instructions
    /// each.
    @inline(__always)
    var counts: Counts {
        get { unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee } }
        set { unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee = newValue } }
    }

    /// The fields' positions, of which `counts.fields` are initialised.
    @inline(__always)
    var places: UnsafeMutablePointer<FieldPlace> {
        unsafe withUnsafeMutablePointerToElements { unsafe $0 }
    }

    /// The bytes after the positions, of which `counts.bytes` are initialised.
    @inline(__always)
    var bytes: UnsafeMutablePointer<UInt8> {
        unsafe UnsafeMutableRawPointer(places + counts.fieldCapacity).assumingMemoryBound(to: UInt8.self)
    }

    @inline(__always)
    func name(at index: Int) -> UnsafeBufferPointer<UInt8> {
        let place = unsafe places[index]
        return unsafe UnsafeBufferPointer(start: bytes + Int(place.nameStart), count: place.nameCount)
    }

    @inline(__always)
    func value(at index: Int) -> UnsafeBufferPointer<UInt8> {
        let place = unsafe places[index]
        return unsafe UnsafeBufferPointer(start: bytes + Int(place.valueStart), count: place.valueCount)
    }

    /// Returns this block if it has room for one more line of that many bytes, else a larger copy.
    func withRoom(forLine count: Int, unique: Bool) -> HeaderBlock {
        let fieldsFit = counts.fields < counts.fieldCapacity
        let bytesFit = counts.bytes + count <= counts.byteCapacity
        if unique && fieldsFit && bytesFit { return self }
        return copy(
            fieldCapacity: fieldsFit ? counts.fieldCapacity : counts.fieldCapacity * 2 + 4,
            byteCapacity: bytesFit ? counts.byteCapacity : counts.byteCapacity * 2 + count
        )
    }

    func copy(fieldCapacity: Int, byteCapacity: Int) -> HeaderBlock {
        let copy = HeaderBlock.make(
            fieldCapacity: max(fieldCapacity, counts.fields),
            byteCapacity: max(byteCapacity, counts.bytes)
        )
        unsafe copy.places.initialize(from: places, count: counts.fields)
        unsafe copy.bytes.initialize(from: bytes, count: counts.bytes)
        copy.counts.fields = counts.fields
        copy.counts.bytes = counts.bytes
        copy.counts.areLines = counts.areLines
        copy.counts.reason = counts.reason
        return copy
    }

    /// The bytes of a line besides name and value: a colon, a space, CR LF.
    static let lineOverhead = 4

    /// Appends a field's line; there must be room. A line that may not be sent is kept here, and refused by
    /// the writer.
    func append(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        let nameStart = counts.bytes
        let valueStart = nameStart + name.count + 2
        let valueEnd = valueStart + value.count
        let isFit = unsafe copyLine(name: name, value: value, to: bytes + nameStart)
        let place = FieldPlace(
            nameStart: UInt32(nameStart),
            nameEnd: UInt32(nameStart + name.count),
            valueStart: UInt32(valueStart),
            valueEnd: UInt32(valueEnd)
        )
        unsafe (places + counts.fields).initialize(to: place)
        counts.fields += 1
        counts.bytes = valueEnd + 2
        if !isFit { counts.areLines = false }
    }

    /// Copies a line and returns whether it may be sent as it is.
    private func copyLine(
        name: UnsafeBufferPointer<UInt8>,
        value: UnsafeBufferPointer<UInt8>,
        to target: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        var isFit = unsafe !OwnedFields.isOwned(name)
        if let source = name.baseAddress {
            isFit = unsafe ByteScan.copyToken(source, count: name.count, to: target) && isFit
        }
        let afterName = unsafe target + name.count
        unsafe afterName.storePair(.colon, second: .space)
        if let source = value.baseAddress {
            isFit = unsafe ByteScan.copyText(source, count: value.count, to: afterName + 2) && isFit
        }
        unsafe (afterName + 2 + value.count).storePair(.carriageReturn, second: .lineFeed)
        return isFit && !name.isEmpty
    }

    /// Removes the fields for whose index `isGone` is true, and closes the gaps in the bytes: the block is
    /// never larger than its contents, however often a field is replaced. The reason phrase belongs to the
    /// received head, so it is removed as well.
    func removeFields(where isGone: (Int) -> Bool) {
        var kept = 0
        var gaps = GapCloser(self)
        for index in 0..<counts.fields {
            let place = unsafe places[index]
            if isGone(index) {
                gaps.leaveOut(place)
            } else {
                unsafe places[kept] = gaps.keep(place)
                kept += 1
            }
        }
        counts.fields = kept
        counts.bytes = kept > 0 ? gaps.end ?? counts.bytes : 0
        counts.reason = 0..<0
        // Without fields, there is no line left that may not be sent.
        if kept == 0 { counts.areLines = true }
    }
}

/// Moves the remaining lines of a block down over the removed ones. It takes the lines in the order of their
/// bytes.
private struct GapCloser {
    private let block: HeaderBlock
    /// The bytes of a line after its value. Received lines may end in a bare LF, so their ends are not kept.
    private let endCount: Int
    /// The end of the bytes that stay; `nil` until there is a gap.
    private(set) var end: Int?

    init(_ block: HeaderBlock) {
        self.block = block
        endCount = block.counts.areLines ? 2 : 0
    }

    mutating func leaveOut(_ place: FieldPlace) {
        if end == nil { end = Int(place.nameStart) }
    }

    /// Moves the line, if there is a gap before it, and returns its new position.
    mutating func keep(_ place: FieldPlace) -> FieldPlace {
        guard let end else { return place }
        let count = Int(place.valueEnd - place.nameStart) + endCount
        // The regions may overlap, which `update` allows.
        unsafe (block.bytes + end).update(from: block.bytes + Int(place.nameStart), count: count)
        self.end = end + count
        let distance = place.nameStart - UInt32(end)
        return FieldPlace(
            nameStart: place.nameStart - distance,
            nameEnd: place.nameEnd - distance,
            valueStart: place.valueStart - distance,
            valueEnd: place.valueEnd - distance
        )
    }
}
