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

    /// The fields' places; `header.fields` of them are initialised.
    @inline(__always)
    var places: UnsafeMutablePointer<FieldPlace> {
        unsafe withUnsafeMutablePointerToElements { unsafe $0 }
    }

    /// The bytes behind the places; `header.bytes` of them are initialised.
    @inline(__always)
    var bytes: UnsafeMutablePointer<UInt8> {
        unsafe UnsafeMutableRawPointer(places + header.fieldCapacity).assumingMemoryBound(to: UInt8.self)
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
        let fieldsFit = header.fields < header.fieldCapacity
        let bytesFit = header.bytes + count <= header.byteCapacity
        if unique && fieldsFit && bytesFit { return self }
        return copy(
            fieldCapacity: fieldsFit ? header.fieldCapacity : header.fieldCapacity * 2 + 4,
            byteCapacity: bytesFit ? header.byteCapacity : header.byteCapacity * 2 + count
        )
    }

    func copy(fieldCapacity: Int, byteCapacity: Int) -> HeaderBlock {
        let copy = HeaderBlock.make(
            fieldCapacity: max(fieldCapacity, header.fields),
            byteCapacity: max(byteCapacity, header.bytes)
        )
        unsafe copy.places.initialize(from: places, count: header.fields)
        unsafe copy.bytes.initialize(from: bytes, count: header.bytes)
        copy.header.fields = header.fields
        copy.header.bytes = header.bytes
        copy.header.reason = header.reason
        return copy
    }

    /// Adds a field; there must be room.
    func append(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        let nameStart = UInt32(header.bytes)
        let valueStart = unsafe append(name)
        let valueEnd = unsafe append(value)
        let place = FieldPlace(
            nameStart: nameStart,
            nameEnd: valueStart,
            valueStart: valueStart,
            valueEnd: valueEnd
        )
        unsafe (places + header.fields).initialize(to: place)
        header.fields += 1
    }

    private func append(_ more: UnsafeBufferPointer<UInt8>) -> UInt32 {
        if let source = more.baseAddress {
            unsafe (bytes + header.bytes).initialize(from: source, count: more.count)
        }
        header.bytes += more.count
        return UInt32(header.bytes)
    }

    /// Forgets the fields whose index `isGone` names; their bytes stay until the next copy.
    func removeFields(where isGone: (Int) -> Bool) {
        var kept = 0
        for index in 0..<header.fields where !isGone(index) {
            unsafe places[kept] = places[index]
            kept += 1
        }
        header.fields = kept
    }
}
