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
