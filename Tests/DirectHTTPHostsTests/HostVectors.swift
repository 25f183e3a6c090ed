import Foundation

/// Names with what others make of them: Unicode's IdnaTestV2.txt in `unicode.txt`; in `drawn.txt` names that were
/// drawn once, with the verdicts of libidn2 (UTS 46) and of Python's module idna (IDNA 2008), and after `~` what
/// UTS 46 makes of a name that both refuse.
struct HostVector {
    let name: String
    let verdicts: [String]

    /// Whether the name has a character that is refused here although UTS 46 has a result: one that programs
    /// read differently.
    var isAmbiguous: Bool {
        name.unicodeScalars.contains { ["\u{3002}", "\u{FF0E}", "\u{FF61}", "\u{1E9E}"].contains($0) }
    }

    static func all(in file: String, test: String = #filePath) throws -> [HostVector] {
        let folder = URL(filePath: test).deletingLastPathComponent()
        let text = try String(contentsOf: folder.appending(path: "Data/" + file), encoding: .utf8)
        return text.split(separator: "\n").map { line in
            let cells = line.split(separator: "\t", omittingEmptySubsequences: false)
            return HostVector(name: unescaped(cells[0]), verdicts: cells.dropFirst().map(String.init))
        }
    }

    /// Reads `\u{NUMBER}` as the character with this number.
    private static func unescaped(_ text: Substring) -> String {
        var parts = text.components(separatedBy: "\\u{")[...]
        var result = parts.popFirst() ?? ""
        for part in parts {
            let end = part.firstIndex(of: "}") ?? part.endIndex
            if let number = UInt32(part[..<end], radix: 16), let character = Unicode.Scalar(number) {
                result.unicodeScalars.append(character)
            }
            result += part[end...].dropFirst()
        }
        return result
    }
}
