/// Reads the heads and trailer sections of one connection, each into a block of its own.
struct HeadReader: ~Copyable {
    private var scanner: HeadScanner
    /// The last head that was read. `status`, `version` and `fields` belong to it.
    private var block: HeaderBlock?
    private(set) var status: HTTPStatus = .ok
    private(set) var version = HTTPVersion.http11
    private(set) var fields = FramingFields()

    init(leniency: HTTP1Leniency) {
        scanner = HeadScanner(leniency: leniency)
    }

    /// Frees memory that is not needed until the next section.
    mutating func releaseMemory() {
        block = nil
        scanner.releaseMemory()
    }

    /// Resets the scanner to the start of a head.
    mutating func expectHead() {
        scanner.expectHead()
    }

    /// Resets the scanner to the start of a trailer section.
    mutating func expectTrailers() {
        scanner.expectTrailers()
    }

    /// Returns the length of the head that begins at `base`, or `nil` if it is not complete.
    @inline(__always)
    mutating func readHead(
        _ base: UnsafePointer<UInt8>,
        available: Int,
        limits: HeadScanner.Limits
    ) throws(HTTP1Error) -> Int? {
        guard let length = try unsafe scanner.scan(base, available: available, limits: limits) else {
            return nil
        }
        try unsafe keepHead(base, length: length)
        return length
    }

    /// The head that was read last.
    @inline(__always)
    var head: ResponseHead {
        ResponseHead(status: status, version: version, received: HTTPHeaders(block: block))
    }

    /// Returns the length of the trailer section that begins at `base`, and its fields; `nil` if it is not
    /// complete.
    mutating func readTrailers(
        _ base: UnsafePointer<UInt8>,
        available: Int,
        limits: HTTP1Limits
    ) throws(HTTP1Error) -> (length: Int, trailers: HTTPHeaders)? {
        let bounds = HeadScanner.Limits(
            bytes: limits.trailerBytes,
            lineBytes: limits.lineBytes,
            fields: limits.trailerCount
        )
        do throws(HTTP1Error) {
            guard let length = try unsafe scanner.scan(base, available: available, limits: bounds) else {
                return nil
            }
            guard scanner.count > 0 else { return (length, HTTPHeaders()) }
            let block = HeaderBlock.make(fieldCapacity: scanner.count, byteCapacity: length)
            unsafe scanner.fill(block, from: base, length: length)
            return (length, HTTPHeaders(block: block))
        } catch .headTooLarge(let limit) {
            throw .trailersTooLarge(limit: limit)
        } catch .tooManyFields(let limit) {
            throw .tooManyTrailers(limit: limit)
        }
    }

    @inline(__always)
    private mutating func keepHead(_ base: UnsafePointer<UInt8>, length: Int) throws(HTTP1Error) {
        let kept = HeaderBlock.make(fieldCapacity: scanner.count, byteCapacity: length)
        unsafe scanner.fill(kept, from: base, length: length)
        fields = try scanner.framingFields(of: kept)
        status = HTTPStatus(unchecked: scanner.statusCode)
        version = scanner.isHTTP10 ? .http10 : .http11
        block = kept
    }
}

extension HeadScanner {
    /// Copies the scanned section into a block that has room for it.
    @inline(__always)
    fileprivate func fill(_ block: HeaderBlock, from base: UnsafePointer<UInt8>, length: Int) {
        unsafe block.places.initialize(from: places, count: count)
        unsafe block.bytes.initialize(from: base, count: length)
        var counts = block.counts
        counts.fields = count
        counts.bytes = length
        counts.areLines = false
        counts.reason = reason
        block.counts = counts
        if hasFolds { block.unfoldValues() }
    }

    /// The framing fields of the section, read from its block, in which folded lines are joined.
    @inline(__always)
    fileprivate func framingFields(of block: HeaderBlock) throws(HTTP1Error) -> FramingFields {
        var fields = FramingFields(acceptsDoubt: leniency.acceptsDoubtfulFraming)
        let bytes = unsafe UnsafePointer(block.bytes)
        var marked = markedFields
        while marked != 0 {
            // The bit stands for all indices that are equal modulo 64: read all of them.
            for index in stride(from: marked.trailingZeroBitCount, to: count, by: 64) {
                let place = unsafe places[index]
                try unsafe fields.read(
                    name: bytes + Int(place.nameStart),
                    nameCount: place.nameCount,
                    value: bytes + Int(place.valueStart),
                    valueCount: place.valueCount
                )
            }
            marked &= marked &- 1
        }
        return fields
    }
}

extension HeaderBlock {
    /// Replaces the folds within values, with the blanks around them, by spaces (RFC 9112, section 5.2).
    fileprivate func unfoldValues() {
        for index in 0..<counts.fields {
            let place = unsafe places[index]
            let value = unsafe UnsafeMutableBufferPointer(
                start: bytes + Int(place.valueStart),
                count: place.valueCount
            )
            unsafe Self.unfold(value)
        }
    }

    private static func unfold(_ value: UnsafeMutableBufferPointer<UInt8>) {
        var position = 0
        while position < value.count {
            let blanks = unsafe value[position...].prefix { $0 <= .space }
            if unsafe blanks.contains(.lineFeed) { unsafe value[blanks.indices].update(repeating: .space) }
            position = unsafe blanks.endIndex + 1
        }
    }
}
