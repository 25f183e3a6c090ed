/// Where a field's name and value lie in their block's bytes.
struct FieldPlace {
    var nameStart: UInt32
    var nameEnd: UInt32
    var valueStart: UInt32
    var valueEnd: UInt32

    @inline(__always) var nameCount: Int { Int(nameEnd &- nameStart) }
    @inline(__always) var valueCount: Int { Int(valueEnd &- valueStart) }
}

/// What one head holds: places of its fields, and behind them its bytes, in one allocation.
///
/// The bytes of a received head are kept as they came, status line and all; those of a built one are names
/// and values one after the other. The block owns its memory; it is changed only while its owner is alone
/// (`isKnownUniquelyReferenced`), so sharing it between threads is safe.
final class HeaderBlock: ManagedBuffer<HeaderBlock.Counts, FieldPlace> {
    struct Counts {
        var fields: Int
        var fieldCapacity: Int
        var bytes: Int
        var byteCapacity: Int
        /// The reason phrase of the response that this block was received with.
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
                reason: 0..<0
            )
        }
        return unsafe unsafeDowncast(block, to: HeaderBlock.self)
    }

    /// By pointer, as `header` itself checks for overlapping accesses at run time, at 80 instructions each.
    @inline(__always)
    var counts: Counts {
        get { unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee } }
        set { unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee = newValue } }
    }

    /// The fields' places; `counts.fields` of them are initialised.
    @inline(__always)
    var places: UnsafeMutablePointer<FieldPlace> {
        unsafe withUnsafeMutablePointerToElements { unsafe $0 }
    }

    /// The bytes behind the places; `counts.bytes` of them are initialised.
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

    /// Room for one more field of that many bytes, in this block or a larger copy.
    func withRoom(forBytes count: Int, unique: Bool) -> HeaderBlock {
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
        copy.counts.reason = counts.reason
        return copy
    }

    /// Adds a field; there must be room.
    func append(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        let nameStart = UInt32(counts.bytes)
        let valueStart = unsafe append(name)
        let valueEnd = unsafe append(value)
        let place = FieldPlace(
            nameStart: nameStart,
            nameEnd: valueStart,
            valueStart: valueStart,
            valueEnd: valueEnd
        )
        unsafe (places + counts.fields).initialize(to: place)
        counts.fields += 1
    }

    private func append(_ more: UnsafeBufferPointer<UInt8>) -> UInt32 {
        if let source = more.baseAddress {
            unsafe (bytes + counts.bytes).initialize(from: source, count: more.count)
        }
        counts.bytes += more.count
        return UInt32(counts.bytes)
    }

    /// Forgets the fields whose index `isGone` names; their bytes stay until the next copy.
    func removeFields(where isGone: (Int) -> Bool) {
        var kept = 0
        for index in 0..<counts.fields where !isGone(index) {
            unsafe places[kept] = places[index]
            kept += 1
        }
        counts.fields = kept
    }
}
