internal import DirectHTTP

/// A label of a name in both forms (UTS 46, section 4.1).
struct HostLabel {
    /// The label as people read it.
    let characters: [Unicode.Scalar]
    /// The label in DNS.
    let ascii: String

    private static let prefix = Array("xn--".unicodeScalars)
    private static let maximumLength = 63

    /// Checks a label that has been mapped and is in normal form.
    init(_ label: [Unicode.Scalar]) throws(InternationalHostError) {
        guard !label.isEmpty else { throw .host(.emptyLabel) }
        // Each character becomes at least one byte.
        guard label.count <= Self.maximumLength else { throw .host(.labelTooLong) }
        let isASCII = label.allSatisfy(\.isASCII)
        if isASCII, label.starts(with: Self.prefix) {
            characters = try Self.decoded(label)
            ascii = Self.text(label)
        } else {
            characters = label
            ascii = isASCII ? Self.text(label) : try Self.encoded(label)
        }
        if !isASCII || characters != label { try check() }
    }

    private static func text(_ label: [Unicode.Scalar]) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: label)
        return String(text)
    }

    private static func encoded(_ label: [Unicode.Scalar]) throws(InternationalHostError) -> String {
        guard let bytes = Punycode.encode(label) else { throw .host(.labelTooLong) }
        return "xn--" + String(decoding: bytes, as: UTF8.self)
    }

    /// Returns what an A-label stands for. It has to be what the conversion would make of just that.
    private static func decoded(_ label: [Unicode.Scalar]) throws(InternationalHostError) -> [Unicode.Scalar]
    {
        let bytes = label.dropFirst(prefix.count).map { UInt8(ascii: $0) }
        guard let characters = Punycode.decode(bytes[...]),
            !characters.allSatisfy(\.isASCII),
            characters.allSatisfy({ HostCharacters.status(of: $0) == .valid }),
            NormalForm.composed(characters) == characters,
            Punycode.encode(characters) == bytes
        else { throw .notALabel }
        return characters
    }

    /// The criteria for labels that are not ASCII. Those in ASCII are left to the parser of hosts: names such
    /// as `r3---sn-ab.example` are in use.
    private func check() throws(InternationalHostError) {
        if let other = characters.first(where: { $0.isASCII && !$0.isLetterDigitHyphen }) {
            throw .disallowed(other)
        }
        let (third, fourth) = (characters.dropFirst(2).first, characters.dropFirst(3).first)
        guard characters.first != "-", characters.last != "-", third != "-" || fourth != "-" else {
            throw .hyphens
        }
        guard let first = characters.first, !first.isMark else { throw .leadingMark }
        for index in characters.indices where !hasJoinerInPlace(at: index) { throw .joiner }
    }

    /// Whether a character is no joiner, or one where it makes a difference that readers see (RFC 5892,
    /// appendix A.1 and A.2).
    private func hasJoinerInPlace(at index: Int) -> Bool {
        guard characters[index] == "\u{200C}" || characters[index] == "\u{200D}" else { return true }
        // A virama: class 9.
        if index > 0, characters[index - 1].combiningClass == 9 { return true }
        guard characters[index] == "\u{200C}" else { return false }
        let types = characters.map(HostCharacters.joining(of:))
        let before = types[..<index].last { $0 != .transparent }
        let after = types[(index + 1)...].first { $0 != .transparent }
        return (before == .left || before == .dual) && (after == .right || after == .dual)
    }
}

// RFC 5893.
extension HostLabel {
    private var directions: [HostCharacters.Direction] { characters.map(HostCharacters.direction(of:)) }

    /// Whether the label makes the name one to which the rule applies (section 1.4).
    var hasRightToLeft: Bool {
        directions.contains { $0 == .right || $0 == .arabic || $0 == .arabicNumber }
    }

    /// Whether the label follows the rule (section 2).
    var followsBidiRule: Bool {
        let directions = directions
        // The end is what comes before marks.
        guard let last = directions.last(where: { $0 != .mark }) else { return false }
        switch directions.first {
        case .right, .arabic:
            let isEnd = [.right, .arabic, .europeanNumber, .arabicNumber].contains(last)
            let hasBoth = directions.contains(.europeanNumber) && directions.contains(.arabicNumber)
            return isEnd && !hasBoth && !directions.contains(.left)
        case .left:
            let others: [HostCharacters.Direction] = [.right, .arabic, .arabicNumber]
            return (last == .left || last == .europeanNumber) && !directions.contains { others.contains($0) }
        default: return false
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isLetterDigitHyphen: Bool {
        switch self {
        case "a"..."z", "0"..."9", "-": true
        default: false
        }
    }

    fileprivate var isMark: Bool {
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }
}
