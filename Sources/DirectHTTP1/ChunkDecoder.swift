/// Finds the content in a chunked body (RFC 9112, section 7.1), however its bytes are cut.
///
/// The states follow the bytes of the body:
///
///     state            expects                                 next
///     size             hexadecimal digits                      afterSize, ext or lineFeed
///     afterSize        blanks, then an extension               ext, or lineFeed if that is tolerated
///     ext              extensions, up to CR                    lineFeed
///     lineFeed         LF; the size is complete                content, or `lastChunk`
///     content          as many bytes as the size says          contentEnd
///     contentEnd       CR                                      contentLineFeed
///     contentLineFeed  LF                                      size
///
/// The decoder is done after the size line of the last chunk; the caller reads the trailer section with the
/// head scanner. A size may not exceed 2^63 - 1, and extensions are limited over the whole body. A bare LF
/// ends a line, and blanks stand before its end, only if leniency allows it. Then `isDoubtful` is set, and
/// the connection must not be reused.
struct ChunkDecoder {
    enum Event {
        case needsMore
        case content(Range<Int>)
        case lastChunk
    }

    private enum State {
        case size
        /// Blanks after the size. Only an extension may follow them, or with leniency the end of the line.
        case afterSize
        case ext
        case lineFeed
        case content
        case contentEnd
        case contentLineFeed
    }

    private var state = State.size
    private var digits = 0
    /// The size while it is read, then the number of content bytes left in the chunk.
    private var remaining: UInt64 = 0
    private var extensionBytes = 0
    private var extensions = ChunkExtensions()
    private let leniency: HTTP1Leniency
    /// Whether a line was accepted only because of leniency.
    private(set) var isDoubtful = false

    init(leniency: HTTP1Leniency) {
        self.leniency = leniency
    }

    /// Returns the next event in the input from `position` on, and moves `position` past the bytes it used.
    @inline(__always)
    mutating func next(
        _ base: UnsafePointer<UInt8>,
        position: inout Int,
        count: Int,
        extensionLimit: Int
    ) throws(HTTP1Error) -> Event {
        if unsafe state == .content || passPlainSizeLine(base, position: &position, count: count) {
            return content(position: &position, count: count)
        }
        while position < count {
            let byte = unsafe base[position]
            switch state {
            case .content:
                return content(position: &position, count: count)
            case .contentEnd:
                if byte == .carriageReturn {
                    state = .contentLineFeed
                } else {
                    guard byte == .lineFeed && leniency.acceptsBareLineFeedsInChunks else {
                        throw .missingChunkEnd
                    }
                    isDoubtful = true
                    state = .size
                }
            case .contentLineFeed:
                guard byte == .lineFeed else { throw .missingChunkEnd }
                state = .size
            case .size:
                if let value = byte.hexDigit {
                    guard digits < 16 && remaining <= UInt64(Int64.max) &>> 4 else {
                        throw .chunkSizeOverflow
                    }
                    remaining = remaining &<< 4 | UInt64(value)
                    digits &+= 1
                } else {
                    guard digits > 0 else { throw .invalidChunkSize }
                    state = try endOfSize(byte)
                    // The same byte is looked at again: it ends the line.
                    if byte == .lineFeed { continue }
                }
            case .afterSize:
                state = try endOfBlanks(byte)
                // The same byte is looked at again: it ends the line.
                if byte == .lineFeed { continue }
                try countExtension(limit: extensionLimit)
            case .ext:
                try takeExtension(byte, limit: extensionLimit)
                // The same byte is looked at again: it ends the line.
                if state == .lineFeed, byte == .lineFeed { continue }
            case .lineFeed:
                guard byte == .lineFeed else { throw .bareCarriageReturn }
                position &+= 1
                digits = 0
                guard remaining > 0 else { return .lastChunk }
                state = .content
                continue
            }
            position &+= 1
        }
        return .needsMore
    }

    /// Returns the content that is there, at least one byte, or `needsMore`.
    @inline(__always)
    private mutating func content(position: inout Int, count: Int) -> Event {
        let start = position
        guard start < count else { return .needsMore }
        let length = min(remaining, UInt64(truncatingIfNeeded: count &- start))
        position &+= Int(truncatingIfNeeded: length)
        remaining &-= length
        state = remaining == 0 ? .contentEnd : .content
        return .content(start..<position)
    }

    /// Skips the end of a chunk and the next chunk's size line, if both are complete and have nothing
    /// unusual. Leaves everything else to the states.
    @inline(__always)
    private mutating func passPlainSizeLine(
        _ base: UnsafePointer<UInt8>,
        position: inout Int,
        count: Int
    ) -> Bool {
        // Enough for two line ends and 15 digits, which cannot overflow.
        guard state == .contentEnd, position &+ 19 <= count, unsafe base.isLineEnd(at: position) else {
            return false
        }
        let start = position &+ 2
        var end = start
        var size: UInt64 = 0
        while end < start &+ 15, let value = unsafe base[end].hexDigit {
            size = size &<< 4 | UInt64(value)
            end &+= 1
        }
        guard size > 0, unsafe base.isLineEnd(at: end) else { return false }
        position = end &+ 2
        remaining = size
        state = .content
        return true
    }

    @inline(__always)
    private mutating func endOfSize(_ byte: UInt8) throws(HTTP1Error) -> State {
        switch byte {
        case .carriageReturn: return .lineFeed
        case .semicolon:
            extensions = ChunkExtensions()
            return .ext
        case .space, .tab: return .afterSize
        case .lineFeed:
            // Readers that disagree about this see different chunks (CVE-2025-22871).
            guard leniency.acceptsBareLineFeedsInChunks else { throw .bareLineFeed }
            isDoubtful = true
            return .lineFeed
        default: throw .invalidChunkSize
        }
    }

    /// The state after blanks and this byte.
    private mutating func endOfBlanks(_ byte: UInt8) throws(HTTP1Error) -> State {
        if byte == .carriageReturn || byte == .lineFeed {
            // Not in the grammar: only an extension may have whitespace before it (RFC 9112, section 7.1.1).
            guard leniency.acceptsWhitespaceAfterChunkSizes else { throw .invalidChunkSize }
            isDoubtful = true
        }
        return try endOfSize(byte)
    }

    private mutating func takeExtension(_ byte: UInt8, limit: Int) throws(HTTP1Error) {
        let isLineEnd =
            byte == .carriageReturn || byte == .lineFeed && leniency.acceptsBareLineFeedsInChunks
        guard isLineEnd else {
            try extensions.consume(byte)
            return try countExtension(limit: limit)
        }
        guard extensions.isComplete else { throw .invalidChunkExtension }
        if byte == .lineFeed { isDoubtful = true }
        state = .lineFeed
    }

    private mutating func countExtension(limit: Int) throws(HTTP1Error) {
        extensionBytes += 1
        guard extensionBytes <= limit else { throw .chunkExtensionsTooLarge(limit: limit) }
    }
}

extension UInt8 {
    /// The digit's value if this is an ASCII hexadecimal digit.
    @inline(__always)
    fileprivate var hexDigit: UInt8? {
        if let digit { return digit }
        let letter = (self | 0x20) &- 0x61
        return letter < 6 ? letter &+ 10 : nil
    }
}

/// Checks the syntax of chunk extensions byte by byte. Recipients must ignore extensions that they do not
/// know (RFC 9112, section 7.1.1), and this client knows none.
///
///     chunk-ext     = *( BWS ";" BWS chunk-ext-name [ BWS "=" BWS chunk-ext-val ] )
///     chunk-ext-val = token / quoted-string
///
/// A quoted string may contain `;`. Parsers that disagree about where it ends see different chunks (request
/// smuggling). Therefore a line end inside it, and everything else that the grammar does not allow, is an
/// error.
struct ChunkExtensions {
    private enum State {
        /// After a semicolon: a name must follow.
        case beforeName
        case inName
        /// After the whitespace that follows a name.
        case afterName
        /// After the equals sign: a value must follow.
        case beforeValue
        case inToken
        case inQuotes
        /// Within a quoted string: the next byte is escaped.
        case afterBackslash
        /// After the closing quote.
        case afterQuotes
        /// After the whitespace that follows a value: only a semicolon may follow.
        case afterValue
    }

    private var state = State.beforeName

    /// Whether the size line may end here.
    var isComplete: Bool {
        switch state {
        case .inName, .inToken, .afterQuotes: true
        case .beforeName, .afterName, .beforeValue, .inQuotes, .afterBackslash, .afterValue: false
        }
    }

    /// Checks the next byte. The first is the one after the first semicolon. The caller handles the end of
    /// the line.
    mutating func consume(_ byte: UInt8) throws(HTTP1Error) {
        guard let next = nextState(on: byte) else { throw .invalidChunkExtension }
        state = next
    }

    private func nextState(on byte: UInt8) -> State? {
        switch state {
        case .inQuotes, .afterBackslash: nextStateInQuotes(on: byte)
        case .beforeName, .beforeValue: nextStateBeforeWord(on: byte)
        case .inName, .afterName: nextStateAfterName(on: byte)
        case .inToken, .afterQuotes, .afterValue: nextStateAfterValue(on: byte)
        }
    }

    private func nextStateBeforeWord(on byte: UInt8) -> State? {
        if byte.isBlank { return state }
        if byte == .quote { return state == .beforeValue ? .inQuotes : nil }
        guard byte.isTokenCharacter else { return nil }
        return state == .beforeName ? .inName : .inToken
    }

    private func nextStateAfterName(on byte: UInt8) -> State? {
        switch byte {
        case .equals: .beforeValue
        case .semicolon: .beforeName
        case .space, .tab: .afterName
        default: state == .inName && byte.isTokenCharacter ? .inName : nil
        }
    }

    private func nextStateAfterValue(on byte: UInt8) -> State? {
        switch byte {
        case .semicolon: .beforeName
        case .space, .tab: .afterValue
        default: state == .inToken && byte.isTokenCharacter ? .inToken : nil
        }
    }

    /// A quoted string consists of whitespace, visible characters and bytes beyond ASCII (RFC 9110, section
    /// 5.6.4).
    private func nextStateInQuotes(on byte: UInt8) -> State? {
        guard byte >= .space && byte != 0x7f || byte == .tab else { return nil }
        guard state == .inQuotes else { return .inQuotes }
        switch byte {
        case .quote: return .afterQuotes
        case .backslash: return .afterBackslash
        default: return .inQuotes
        }
    }
}
