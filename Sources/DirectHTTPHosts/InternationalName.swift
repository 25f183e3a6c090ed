internal import DirectHTTP

/// A name that has characters beyond ASCII, or labels that stand for such characters (UTS 46, section 4).
struct InternationalName {
    /// The name in ASCII.
    let ascii: String

    /// Longer texts are no names, whatever is left out of them, and the work grows with their length.
    private static let maximumLength = 4096

    /// `ß` since version 15.1 of UTS 46, `ss` before.
    private static let capitalSharpS: Unicode.Scalar = "\u{1E9E}"

    /// Whether a text needs more than the parser of hosts: no host in ASCII does, if it has no A-labels.
    static func isNeeded(for text: Substring) -> Bool {
        !text.utf8.allSatisfy { $0 < 0x80 }
            || text.utf8.split(separator: UInt8(ascii: ".")).contains { label in
                label.count >= 4 && label.prefix(4).map { $0 < 0x41 ? $0 : $0 | 0x20 } == Array("xn--".utf8)
            }
    }

    init(_ text: Substring) throws(InternationalHostError) {
        let mapped = NormalForm.composed(try Self.mapped(text))
        var labels: [HostLabel] = []
        for label in mapped.split(separator: ".", omittingEmptySubsequences: false) {
            labels.append(try HostLabel(Array(label)))
        }
        if labels.contains(where: \.hasRightToLeft) {
            guard labels.allSatisfy(\.followsBidiRule) else { throw .direction }
        }
        ascii = labels.map(\.ascii).joined(separator: ".")
    }

    private static func mapped(_ text: Substring) throws(InternationalHostError) -> [Unicode.Scalar] {
        guard text.utf8.count <= maximumLength else { throw .host(.tooLong) }
        var result: [Unicode.Scalar] = []
        for character in text.unicodeScalars {
            switch HostCharacters.status(of: character) {
            case .valid: result.append(character)
            case .ignored: break
            case .mapped(let others):
                guard !others.contains("."), character != capitalSharpS else { throw .ambiguous(character) }
                result += others
            // DNS has it, and so have hosts in ASCII, if the table of names has not.
            case .disallowed where character == "_": result.append(character)
            case .disallowed: throw fault(for: character)
            }
        }
        return result
    }

    private static func fault(for character: Unicode.Scalar) -> InternationalHostError {
        guard character.isASCII else { return .disallowed(character) }
        return .host(character == "%" ? .percentEncoded : .invalidCharacter(UInt8(ascii: character)))
    }
}
