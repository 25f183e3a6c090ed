/// Finds the lines of a head or a trailer section, and checks every byte of them.
///
/// The caller offers the section from its first byte each time, with more behind it, until it is complete. How
/// far the bytes were looked at is kept, so a head that arrives byte by byte costs no more than linear time; and
/// what is wrong is decided by the bytes alone, never by how they were cut.
@safe struct HeadScanner: ~Copyable {
    struct Limits {
        var bytes: Int
        var lineBytes: Int
        var fields: Int
    }

    private enum Part {
        case statusLine
        case reason
        case fields
    }

    /// The places of the fields found so far. Owned here; room for `capacity`, of which `count` are initialised.
    private(set) var places: UnsafeMutablePointer<FieldPlace>
    private(set) var count = 0
    private var capacity = 32

    private(set) var statusCode: UInt16 = 0
    private(set) var isHTTP10 = false
    private(set) var reason: Range<UInt32> = 0..<0
    /// Whether a value goes over several lines; its line ends are still in it.
    private(set) var hasFolds = false

    private let leniency: HTTP1Leniency
    private var part = Part.statusLine
    /// Where to go on looking.
    private var position = 0
    private var lineStart = 0
    /// Where the current line's name ends; 0 while that is not known.
    private var nameEnd = 0

    init(leniency: HTTP1Leniency) {
        self.leniency = leniency
        unsafe places = .allocate(capacity: capacity)
    }

    deinit {
        unsafe places.deallocate()
    }

    /// Forgets the last section and expects a head.
    mutating func expectHead() {
        expectTrailers()
        part = .statusLine
    }

    /// Forgets the last section and expects field lines.
    mutating func expectTrailers() {
        part = .fields
        count = 0
        position = 0
        lineStart = 0
        nameEnd = 0
        reason = 0..<0
        hasFolds = false
    }

    /// The length of the section that begins at `base`, or nil if it goes on behind `available` bytes.
    @inline(__always)
    mutating func scan(
        _ base: UnsafePointer<UInt8>,
        available: Int,
        limits: Limits
    ) throws(HTTP1Error) -> Int? {
        let end = min(available, limits.bytes)
        if part != .fields {
            guard try unsafe scanStatusLine(base, end: end, limits: limits) else { return nil }
        }
        return try unsafe scanFields(base, end: end, limits: limits)
    }

    /// Scans `HTTP-version SP 3DIGIT [SP reason] CRLF`; false if it goes on behind `end`.
    @inline(__always)
    private mutating func scanStatusLine(
        _ base: UnsafePointer<UInt8>,
        end: Int,
        limits: Limits
    ) throws(HTTP1Error) -> Bool {
        let stop = min(end, limits.lineBytes &+ 2)
        if part == .statusLine {
            guard try unsafe StatusLine.check(base, count: stop) else {
                return try needsMore(at: 0, stop: stop, limits: limits)
            }
            isHTTP10 = unsafe base[7] == 0x30
            statusCode = unsafe StatusLine.code(base)
            position = StatusLine.prefixCount
            part = .reason
        }
        let lineEnd = unsafe ByteScan.endOfText(base, from: position, to: stop)
        guard lineEnd < stop else { return try needsMore(at: lineEnd, stop: stop, limits: limits) }
        guard
            let next = try unsafe endOfLine(base, at: lineEnd, stop: stop, limits: limits, .invalidReasonPhrase)
        else { return false }
        let start = min(StatusLine.prefixCount &+ 1, lineEnd)
        reason = unsafe Range(uncheckedBounds: (UInt32(truncatingIfNeeded: start), UInt32(truncatingIfNeeded: lineEnd)))
        part = .fields
        position = next
        lineStart = next
        return true
    }

    /// Scans field lines up to the empty line; nil if they go on behind `end`.
    @inline(__always)
    private mutating func scanFields(
        _ base: UnsafePointer<UInt8>,
        end: Int,
        limits: Limits
    ) throws(HTTP1Error) -> Int? {
        var position = self.position
        while true {
            let stop = min(end, lineStart &+ limits.lineBytes &+ 2)
            if nameEnd == 0 {
                position = unsafe ByteScan.endOfToken(base, from: position, to: stop)
                guard position < stop else {
                    _ = try needsMore(at: position, stop: stop, limits: limits)
                    return nil
                }
                if unsafe position != lineStart && base[position] == .colon {
                    nameEnd = position
                    position &+= 1
                } else if position == lineStart {
                    switch try unsafe scanLineStart(base, stop: stop, limits: limits) {
                    case .needsMore: return nil
                    case .end(let length): return length
                    case .fold: break
                    }
                    // The line before goes on: its value now ends where this line does.
                    position = self.position
                    continue
                } else {
                    throw unsafe nameFault(base[position])
                }
            }
            position = unsafe ByteScan.endOfText(base, from: position, to: stop)
            guard position < stop else {
                _ = try needsMore(at: position, stop: stop, limits: limits)
                return nil
            }
            guard
                let next = try unsafe endOfLine(base, at: position, stop: stop, limits: limits, .invalidFieldValue)
            else { return nil }
            try unsafe keepField(base, lineEnd: position, limits: limits)
            position = next
            lineStart = next
            nameEnd = 0
        }
    }

    private enum LineStart {
        case needsMore
        case end(Int)
        case fold
    }

    /// Decides about a line that does not begin with a name: the empty one, or one that goes on with the last.
    @inline(__always)
    private mutating func scanLineStart(
        _ base: UnsafePointer<UInt8>,
        stop: Int,
        limits: Limits
    ) throws(HTTP1Error) -> LineStart {
        let first = unsafe base[lineStart]
        if first.isBlank {
            try unfold()
            return .fold
        }
        let isLineEnd = first == .carriageReturn || first == .lineFeed
        guard isLineEnd else { throw first == .colon ? .invalidFieldName : nameFault(first) }
        guard let next = try unsafe endOfLine(base, at: lineStart, stop: stop, limits: limits, .bareLineFeed)
        else { return .needsMore }
        return .end(next)
    }

    /// Takes the last field back, so that what follows becomes part of its value (RFC 9112, section 5.2).
    private mutating func unfold() throws(HTTP1Error) {
        guard count > 0 else { throw .whitespaceBeforeFirstField }
        guard leniency.unfoldsLines else { throw .foldedLine }
        count -= 1
        position = lineStart
        lineStart = unsafe Int(places[count].nameStart)
        nameEnd = unsafe Int(places[count].nameEnd)
        hasFolds = true
    }

    /// The start of the line behind the one that ends at `lineEnd`, or nil if its LF is still to come.
    @inline(__always)
    private mutating func endOfLine(
        _ base: UnsafePointer<UInt8>,
        at lineEnd: Int,
        stop: Int,
        limits: Limits,
        _ fault: HTTP1Error
    ) throws(HTTP1Error) -> Int? {
        guard lineEnd &- lineStart <= limits.lineBytes else { throw .lineTooLong(limit: limits.lineBytes) }
        let byte = unsafe base[lineEnd]
        if byte == .carriageReturn {
            guard lineEnd &+ 1 < stop else {
                _ = try needsMore(at: lineEnd, stop: stop, limits: limits)
                return nil
            }
            guard unsafe base[lineEnd &+ 1] == .lineFeed else { throw .bareCarriageReturn }
            return lineEnd &+ 2
        }
        guard byte == .lineFeed else { throw fault }
        guard leniency.acceptsBareLineFeeds else { throw .bareLineFeed }
        return lineEnd &+ 1
    }

    @inline(__always)
    private mutating func keepField(
        _ base: UnsafePointer<UInt8>,
        lineEnd: Int,
        limits: Limits
    ) throws(HTTP1Error) {
        var start = nameEnd &+ 1
        var end = lineEnd
        while start < end, unsafe base[start] <= .space { start &+= 1 }
        while end > start, unsafe base[end &- 1] <= .space { end &-= 1 }
        if count == capacity { grow() }
        guard count < limits.fields else { throw .tooManyFields(limit: limits.fields) }
        let place = FieldPlace(
            nameStart: UInt32(truncatingIfNeeded: lineStart),
            nameEnd: UInt32(truncatingIfNeeded: nameEnd),
            valueStart: UInt32(truncatingIfNeeded: start),
            valueEnd: UInt32(truncatingIfNeeded: end)
        )
        unsafe (places + count).initialize(to: place)
        count &+= 1
    }

    /// Remembers where to go on; throws if more bytes cannot help because a limit is reached.
    private mutating func needsMore(at position: Int, stop: Int, limits: Limits) throws(HTTP1Error) -> Bool {
        if position &- lineStart > limits.lineBytes { throw .lineTooLong(limit: limits.lineBytes) }
        if stop >= limits.bytes { throw .headTooLarge(limit: limits.bytes) }
        self.position = position
        return false
    }

    private func nameFault(_ byte: UInt8) -> HTTP1Error {
        switch byte {
        case .space, .tab: .whitespaceBeforeColon
        case .carriageReturn, .lineFeed: .missingColon
        default: .invalidFieldName
        }
    }

    @inline(never)
    private mutating func grow() {
        let larger = UnsafeMutablePointer<FieldPlace>.allocate(capacity: capacity * 2)
        unsafe larger.moveInitialize(from: places, count: count)
        unsafe places.deallocate()
        unsafe places = larger
        capacity *= 2
    }
}
