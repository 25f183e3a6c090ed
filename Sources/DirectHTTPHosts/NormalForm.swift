/// Normalization Form C (UAX 15) of what is valid in names.
///
/// All that UTS 46 leaves in a name is decomposed, and composed again, by pairs alone: what is not has become
/// something else before.
enum NormalForm {
    /// Returns the text in normal form.
    static func composed(_ text: [Unicode.Scalar]) -> [Unicode.Scalar] {
        if text.allSatisfy(\.isASCII) { return text }
        var parts: [Unicode.Scalar] = []
        for character in text { appendParts(of: character, to: &parts) }
        sortMarks(of: &parts)
        return joined(parts)
    }

    private static func appendParts(of character: Unicode.Scalar, to parts: inout [Unicode.Scalar]) {
        guard let (first, second) = Hangul.parts(of: character) ?? pairs[character] else {
            return parts.append(character)
        }
        appendParts(of: first, to: &parts)
        parts.append(second)
    }

    /// Sorts each sequence of marks by their classes, and leaves those of one class as they are.
    private static func sortMarks(of parts: inout [Unicode.Scalar]) {
        var start = 0
        while start < parts.count {
            var end = start
            while end < parts.count, parts[end].combiningClass > 0 { end += 1 }
            if end - start > 1 {
                // The index makes the sort stable.
                let marks = parts[start..<end].enumerated().sorted {
                    ($0.element.combiningClass, $0.offset) < ($1.element.combiningClass, $1.offset)
                }
                parts.replaceSubrange(start..<end, with: marks.map(\.element))
            }
            start = end + 1
        }
    }

    private static func joined(_ parts: [Unicode.Scalar]) -> [Unicode.Scalar] {
        var result: [Unicode.Scalar] = []
        // The last character of class 0, and the class of what is between it and the next one.
        var (starter, lastClass): (Int?, UInt8) = (nil, 0)
        for part in parts {
            let itsClass = part.combiningClass
            if let starter, starter == result.count - 1 || lastClass < itsClass,
                let whole = composition(of: result[starter], part)
            {
                result[starter] = whole
                continue
            }
            result.append(part)
            lastClass = itsClass
            if itsClass == 0 { starter = result.count - 1 }
        }
        return result
    }

    private static func composition(of first: Unicode.Scalar, _ second: Unicode.Scalar) -> Unicode.Scalar? {
        Hangul.whole(of: first, second) ?? wholes[UInt64(first.value) << 32 | UInt64(second.value)]
    }

    private static let triples: [(Unicode.Scalar, Unicode.Scalar, Unicode.Scalar)] = {
        let numbers = HostCharacterData.compositions.numbers.compactMap(Unicode.Scalar.init)
        return stride(from: 0, to: numbers.count, by: 3).map {
            (numbers[$0], numbers[$0 + 1], numbers[$0 + 2])
        }
    }()
    private static let pairs = Dictionary(
        triples.map { ($2, ($0, $1)) },
        uniquingKeysWith: { first, _ in first }
    )
    private static let wholes = Dictionary(
        triples.map { (UInt64($0.value) << 32 | UInt64($1.value), $2) },
        uniquingKeysWith: { first, _ in first }
    )
}

/// The syllables of Hangul, which are composed by arithmetic (The Unicode Standard, section 3.12).
private enum Hangul {
    static func parts(of syllable: Unicode.Scalar) -> (Unicode.Scalar, Unicode.Scalar)? {
        guard 0xAC00..<0xD7A4 ~= syllable.value else { return nil }
        let index = syllable.value - 0xAC00
        // The last consonant, if there is one; else first consonant and vowel.
        if index % 28 > 0 { return pair(syllable.value - index % 28, 0x11A7 + index % 28) }
        return pair(0x1100 + index / 588, 0x1161 + index % 588 / 28)
    }

    static func whole(of first: Unicode.Scalar, _ second: Unicode.Scalar) -> Unicode.Scalar? {
        if 0x1100..<0x1113 ~= first.value, 0x1161..<0x1176 ~= second.value {
            return Unicode.Scalar(0xAC00 + ((first.value - 0x1100) * 21 + second.value - 0x1161) * 28)
        }
        guard 0xAC00..<0xD7A4 ~= first.value, (first.value - 0xAC00) % 28 == 0,
            0x11A8..<0x11C3 ~= second.value
        else { return nil }
        return Unicode.Scalar(first.value + second.value - 0x11A7)
    }

    private static func pair(_ first: UInt32, _ second: UInt32) -> (Unicode.Scalar, Unicode.Scalar)? {
        guard let first = Unicode.Scalar(first), let second = Unicode.Scalar(second) else { return nil }
        return (first, second)
    }
}

extension Unicode.Scalar {
    /// The canonical combining class, which never changes once a character has one.
    var combiningClass: UInt8 { properties.canonicalCombiningClass.rawValue }
}
