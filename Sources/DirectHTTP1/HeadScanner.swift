/// Finds the lines of a head or a trailer section, and checks every byte of them.
///
/// Each time, the caller offers the section from its first byte, with more bytes at the end, until it is
/// complete. The scanner remembers the position up to which it has checked, so a head that arrives byte by
/// byte takes linear time. Errors depend only on the bytes, never on how they were cut.
///
/// A head passes through three parts: the status line up to the code, the reason phrase, and the field lines.
/// A trailer section has only the third. Field lines are scanned in two ways. `scanPlainFields` handles
/// complete, ordinary lines and never throws. The line at which it stops goes through the rest of
/// `scanFields`, which decides whether the line is incomplete (`nil`), unusual, folded, or wrong. Only
/// positions are kept: `places` has the start and end of each name and value, relative to the section's first
/// byte.
///
/// The limits are checked before more bytes are asked for, and a line that is too long is reported as such
/// before any other fault after that point.
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

    /// The positions of the fields found so far. Owned: room for `capacity`, of which `count` are
    /// initialised.
    private(set) var places: UnsafeMutablePointer<FieldPlace>
    private(set) var count = 0
    private var capacity = 32

    /// One bit for each field that may concern framing, by the field's index modulo 64.
    private(set) var markedFields: UInt64 = 0

    private(set) var statusCode: UInt16 = 0
    private(set) var isHTTP10 = false
    private(set) var reason: Range<UInt32> = 0..<0
    /// Whether a value extends over several lines. Its line ends are still in it.
    private(set) var hasFolds = false

    let leniency: HTTP1Leniency
    private var part = Part.statusLine
    /// The position up to which the bytes have been checked.
    private var position = 0
    private var lineStart = 0
    /// The end of the current line's name; 0 while it is not known.
    private var nameEnd = 0
    /// The start of the line that continues the last field; 0 if none does.
    private var foldStart = 0

    init(leniency: HTTP1Leniency) {
        self.leniency = leniency
        unsafe places = .allocate(capacity: capacity)
    }

    deinit {
        unsafe places.deallocate()
    }

    /// Frees the room that the largest section needed. Only valid between sections.
    mutating func releaseMemory() {
        unsafe places.deallocate()
        capacity = 4
        count = 0
        unsafe places = .allocate(capacity: capacity)
    }

    /// Resets the scanner to the start of a head.
    mutating func expectHead() {
        expectTrailers()
        part = .statusLine
    }

    /// Resets the scanner to the start of a section of field lines.
    mutating func expectTrailers() {
        part = .fields
        count = 0
        markedFields = 0
        position = 0
        lineStart = 0
        nameEnd = 0
        foldStart = 0
        reason = 0..<0
        hasFolds = false
    }

    /// Returns the length of the section that begins at `base`, or `nil` if it continues after `available`
    /// bytes.
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

    /// Scans `HTTP-version SP 3DIGIT [SP reason] CRLF`. Returns false if it continues after `end`.
    @inline(__always)
    private mutating func scanStatusLine(
        _ base: UnsafePointer<UInt8>,
        end: Int,
        limits: Limits
    ) throws(HTTP1Error) -> Bool {
        if part == .statusLine {
            guard try unsafe StatusLine.check(base, count: end) else {
                try needsMore(at: 0, end: end, limits: limits)
                return false
            }
            isHTTP10 = unsafe base[7] == 0x30
            statusCode = unsafe StatusLine.code(base)
            position = StatusLine.prefixCount
            part = .reason
        }
        let lineEnd = unsafe ByteScan.endOfText(base, from: position, to: end)
        guard
            let next = try unsafe endOfLine(
                base,
                at: lineEnd,
                end: end,
                limits: limits,
                fault: .invalidReasonPhrase
            )
        else { return false }
        let start = min(StatusLine.prefixCount &+ 1, lineEnd)
        reason = UInt32(truncatingIfNeeded: start)..<UInt32(truncatingIfNeeded: lineEnd)
        part = .fields
        position = next
        lineStart = next
        return true
    }

    /// Scans field lines up to the empty line. Returns `nil` if they continue after `end`.
    private mutating func scanFields(
        _ base: UnsafePointer<UInt8>,
        end: Int,
        limits: Limits
    ) throws(HTTP1Error) -> Int? {
        while true {
            if position == lineStart { unsafe scanPlainFields(base, end: end, limits: limits) }
            if nameEnd == 0 {
                position = unsafe ByteScan.endOfToken(base, from: position, to: end)
                if unsafe position < end && base[position] == .colon && position > lineStart {
                    nameEnd = position
                    position &+= 1
                } else {
                    let length = try unsafe scanOddLine(base, at: position, end: end, limits: limits)
                    // Without a length, more bytes are needed, unless the line continues the one before it.
                    guard length == nil, nameEnd != 0 else { return length }
                }
            }
            position = unsafe ByteScan.endOfText(base, from: position, to: end)
            guard
                let next = try unsafe endOfLine(
                    base,
                    at: position,
                    end: end,
                    limits: limits,
                    fault: .invalidFieldValue
                )
            else { return nil }
            try unsafe keepField(base, lineEnd: position, limits: limits)
            nameEnd = 0
            position = next
            lineStart = next
        }
    }

    /// Scans the complete lines that have nothing unusual: a name of letters and dashes, a colon and an
    /// optional space, a value without surrounding blanks, CR LF. This is the fast path of `scanFields`,
    /// which scans the line that it stops at again from its start.
    @inline(__always)
    private mutating func scanPlainFields(_ base: UnsafePointer<UInt8>, end: Int, limits: Limits) {
        var lineStart = self.lineStart
        var count = self.count
        var marked = markedFields
        let places = unsafe self.places
        let room = min(capacity, limits.fields)
        while count < room {
            let nameEnd = unsafe ByteScan.endOfPlainName(base, from: lineStart, to: end)
            guard unsafe nameEnd &+ 2 < end && base[nameEnd] == .colon && nameEnd > lineStart else { break }
            let start = unsafe base[nameEnd &+ 1] == .space ? nameEnd &+ 2 : nameEnd &+ 1
            let lineEnd = unsafe ByteScan.endOfText(base, from: start, to: end)
            guard lineEnd &+ 1 < end && lineEnd &- lineStart <= limits.lineBytes else { break }
            guard unsafe base.isLineEnd(at: lineEnd) else { break }
            // If the value is empty, these two bytes are the line end, and the colon or the space after it.
            guard unsafe base[lineEnd &- 1] > .space && base[start] > .space || start == lineEnd else {
                break
            }
            let place = FieldPlace(
                nameStart: UInt32(truncatingIfNeeded: lineStart),
                nameEnd: UInt32(truncatingIfNeeded: nameEnd),
                valueStart: UInt32(truncatingIfNeeded: start),
                valueEnd: UInt32(truncatingIfNeeded: lineEnd)
            )
            unsafe (places + count).initialize(to: place)
            marked |=
                FramingFields.mark(nameCount: nameEnd &- lineStart) &<< UInt64(truncatingIfNeeded: count)
            count &+= 1
            lineStart = lineEnd &+ 2
        }
        self.lineStart = lineStart
        position = lineStart
        self.count = count
        markedFields = marked
    }

    /// Handles a line of which no name and colon have been found. Returns the length of the section if it is
    /// the empty line that ends it, else `nil`: then the line either continues after `end` or continues the
    /// last field.
    private mutating func scanOddLine(
        _ base: UnsafePointer<UInt8>,
        at position: Int,
        end: Int,
        limits: Limits
    ) throws(HTTP1Error) -> Int? {
        if position == lineStart && position < end {
            let first = unsafe base[position]
            if first == .carriageReturn || first == .lineFeed {
                return try unsafe endOfLine(
                    base,
                    at: position,
                    end: end,
                    limits: limits,
                    fault: .bareLineFeed
                )
            }
            if first.isBlank {
                try unsafe unfold(base)
                return nil
            }
        }
        guard position < end else {
            try needsMore(at: position, end: end, limits: limits)
            return nil
        }
        throw unsafe fault(nameFault(base[position]), at: position, limits: limits)
    }

    /// Reopens the last field, so that the current line becomes part of its value (RFC 9112, section 5.2).
    ///
    /// A field that frames the content is refused: recipients that do not unfold would see another end of the
    /// response.
    private mutating func unfold(_ base: UnsafePointer<UInt8>) throws(HTTP1Error) {
        guard count > 0 else { throw .whitespaceBeforeFirstField }
        let last = unsafe places[count - 1]
        let frames = unsafe FramingFields.frame(
            name: base + Int(last.nameStart),
            nameCount: last.nameCount
        )
        if frames { throw .foldedLine }
        count -= 1
        position = lineStart
        foldStart = lineStart
        lineStart = Int(last.nameStart)
        nameEnd = Int(last.nameEnd)
        hasFolds = true
    }

    /// Returns the start of the line after the one that ends at `lineEnd`, or `nil` if it continues after
    /// `end`.
    @inline(__always)
    private mutating func endOfLine(
        _ base: UnsafePointer<UInt8>,
        at lineEnd: Int,
        end: Int,
        limits: Limits,
        fault: HTTP1Error
    ) throws(HTTP1Error) -> Int? {
        if unsafe lineEnd &+ 1 < end && base.isLineEnd(at: lineEnd)
            && lineEnd &- lineStart <= limits.lineBytes
        {
            return lineEnd &+ 2
        }
        return try unsafe oddLineEnd(base, at: lineEnd, end: end, limits: limits, textFault: fault)
    }

    /// Handles a line end that is not a complete CR LF.
    @inline(never)
    private mutating func oddLineEnd(
        _ base: UnsafePointer<UInt8>,
        at lineEnd: Int,
        end: Int,
        limits: Limits,
        textFault: HTTP1Error
    ) throws(HTTP1Error) -> Int? {
        if lineEnd < end {
            let byte = unsafe base[lineEnd]
            if byte == .lineFeed {
                guard leniency.acceptsBareLineFeeds else {
                    throw fault(.bareLineFeed, at: lineEnd, limits: limits)
                }
                guard lineEnd - lineStart <= limits.lineBytes else {
                    throw .lineTooLong(limit: limits.lineBytes)
                }
                return lineEnd + 1
            }
            guard byte == .carriageReturn else { throw fault(textFault, at: lineEnd, limits: limits) }
            if lineEnd + 1 < end { throw fault(.bareCarriageReturn, at: lineEnd, limits: limits) }
        }
        try needsMore(at: lineEnd, end: end, limits: limits)
        return nil
    }

    /// Adds the current line as a field, without the blanks around its value.
    private mutating func keepField(
        _ base: UnsafePointer<UInt8>,
        lineEnd: Int,
        limits: Limits
    ) throws(HTTP1Error) {
        let isFolded = foldStart > 0
        var start = isFolded ? foldStart : nameEnd + 1
        var end = lineEnd
        while start < end, unsafe base[start] <= .space { start += 1 }
        while end > start, unsafe base[end - 1] <= .space { end -= 1 }
        if isFolded { (start, end) = joined(start, end) }
        try makeRoom(limits: limits)
        let place = FieldPlace(
            nameStart: UInt32(truncatingIfNeeded: lineStart),
            nameEnd: UInt32(truncatingIfNeeded: nameEnd),
            valueStart: UInt32(truncatingIfNeeded: start),
            valueEnd: UInt32(truncatingIfNeeded: end)
        )
        markedFields |= FramingFields.mark(nameCount: place.nameCount) &<< UInt64(truncatingIfNeeded: count)
        unsafe (places + count).initialize(to: place)
        count &+= 1
    }

    /// Returns the value that the last field has together with what its next line has, from `start` to `end`.
    /// Not found by trimming all of it once more: lines of blanks would take quadratic time.
    @inline(never)
    private mutating func joined(_ start: Int, _ end: Int) -> (Int, Int) {
        foldStart = 0
        // `unfold` has left the place of the field.
        let former = unsafe places[count]
        if start == end { return (Int(former.valueStart), Int(former.valueEnd)) }
        return (former.valueCount == 0 ? start : Int(former.valueStart), end)
    }

    /// Remembers the position, or throws if more bytes cannot help because a limit is reached.
    private mutating func needsMore(at position: Int, end: Int, limits: Limits) throws(HTTP1Error) {
        guard position - lineStart <= limits.lineBytes else { throw .lineTooLong(limit: limits.lineBytes) }
        guard end < limits.bytes else { throw .headTooLarge(limit: limits.bytes) }
        self.position = position
    }

    /// The fault at a position, or `lineTooLong` if the line exceeds its limit before it. So the error does
    /// not depend on how the bytes are cut.
    private func fault(_ fault: HTTP1Error, at position: Int, limits: Limits) -> HTTP1Error {
        position - lineStart <= limits.lineBytes ? fault : .lineTooLong(limit: limits.lineBytes)
    }

    private func nameFault(_ byte: UInt8) -> HTTP1Error {
        switch byte {
        case .space, .tab: .whitespaceBeforeColon
        case .carriageReturn, .lineFeed: .missingColon
        default: .invalidFieldName
        }
    }

    private mutating func makeRoom(limits: Limits) throws(HTTP1Error) {
        guard count < limits.fields else { throw .tooManyFields(limit: limits.fields) }
        guard count == capacity else { return }
        let larger = UnsafeMutablePointer<FieldPlace>.allocate(capacity: capacity * 2)
        unsafe larger.moveInitialize(from: places, count: count)
        unsafe places.deallocate()
        unsafe places = larger
        capacity *= 2
    }
}
