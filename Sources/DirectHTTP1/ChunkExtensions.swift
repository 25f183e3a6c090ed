/// Checks the extensions of a chunk's size line byte by byte; their contents are ignored (RFC 9112, section 7.1.1).
///
///     chunk-ext     = *( BWS ";" BWS chunk-ext-name [ BWS "=" BWS chunk-ext-val ] )
///     chunk-ext-val = token / quoted-string
///
/// A quoted string may contain `;`. Readers that disagree about its end see different chunks. So a line end inside
/// it, and everything else that the grammar does not allow, is an error.
struct ChunkExtensions {
    private enum Place {
        /// After a semicolon: a name must follow.
        case beforeName
        case inName
        case behindName
        /// After the equals sign: a value must follow.
        case beforeValue
        case inToken
        case inQuotes
        case behindBackslash
        case behindQuotes
        /// After the blanks that follow a value: only a semicolon may follow.
        case behindValue
    }

    private var place = Place.beforeName

    /// Whether the size line may end here.
    var isComplete: Bool {
        switch place {
        case .inName, .inToken, .behindQuotes: true
        case .beforeName, .behindName, .beforeValue, .inQuotes, .behindBackslash, .behindValue: false
        }
    }

    /// Checks the next byte after the first semicolon. It must not be a line end.
    mutating func take(_ byte: UInt8) throws(HTTP1Error) {
        guard let next = place(after: byte) else { throw .invalidChunkExtension }
        place = next
    }

    private func place(after byte: UInt8) -> Place? {
        switch place {
        case .inQuotes, .behindBackslash: placeInQuotes(after: byte)
        case .beforeName, .beforeValue: placeBeforeWord(after: byte)
        case .inName, .behindName: placeAfterName(after: byte)
        case .inToken, .behindQuotes, .behindValue: placeAfterValue(after: byte)
        }
    }

    private func placeBeforeWord(after byte: UInt8) -> Place? {
        if byte.isBlank { return place }
        if byte == .quote { return place == .beforeValue ? .inQuotes : nil }
        guard byte.isTokenCharacter else { return nil }
        return place == .beforeName ? .inName : .inToken
    }

    private func placeAfterName(after byte: UInt8) -> Place? {
        switch byte {
        case .equals: .beforeValue
        case .semicolon: .beforeName
        case .space, .tab: .behindName
        default: place == .inName && byte.isTokenCharacter ? .inName : nil
        }
    }

    private func placeAfterValue(after byte: UInt8) -> Place? {
        switch byte {
        case .semicolon: .beforeName
        case .space, .tab: .behindValue
        default: place == .inToken && byte.isTokenCharacter ? .inToken : nil
        }
    }

    /// A quoted string has blanks, visible characters and bytes beyond ASCII (RFC 9110, section 5.6.4).
    private func placeInQuotes(after byte: UInt8) -> Place? {
        guard byte >= .space && byte != 0x7f || byte == .tab else { return nil }
        guard place == .inQuotes else { return .inQuotes }
        switch byte {
        case .quote: return .behindQuotes
        case .backslash: return .behindBackslash
        default: return .inQuotes
        }
    }
}
