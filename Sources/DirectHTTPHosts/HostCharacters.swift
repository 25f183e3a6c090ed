/// What Unicode's tables say of a character in a name.
enum HostCharacters {
    /// What UTS 46 does with a character.
    enum Status: Equatable {
        case valid, disallowed, ignored
        case mapped([Unicode.Scalar])
    }

    /// The bidirectional classes that RFC 5893 names.
    enum Direction: UInt8 {
        case left = 0x4C  // L
        case right = 0x52  // R
        case arabic = 0x41  // A
        case arabicNumber = 0x4E  // N
        case europeanNumber = 0x45  // E
        case europeanSeparator = 0x65  // e
        case commonSeparator = 0x63  // c
        case europeanTerminator = 0x74  // t
        case neutral = 0x6F  // o
        case boundary = 0x62  // b
        case mark = 0x6D  // m
    }

    /// The way a character joins its neighbours.
    enum Joining: UInt8 {
        case none = 0x55  // U
        case left = 0x4C  // L
        case right = 0x52  // R
        case dual = 0x44  // D
        case causing = 0x43  // C
        case transparent = 0x54  // T
    }

    static func status(of character: Unicode.Scalar) -> Status {
        let (run, offset) = mapping.run(of: character)
        switch run.kind {
        case UInt8(ascii: "v"): return .valid
        case UInt8(ascii: "i"): return .ignored
        case UInt8(ascii: "a"):
            return offset % 2 == 1 ? .valid : mappedTo(character.value + 1)
        case UInt8(ascii: "d"): return mappedTo(run.value + offset)
        case UInt8(ascii: "s"):
            let start = Int(run.value >> 5)
            return .mapped(Array(mapped[start..<(start + Int(run.value & 31))]))
        default: return .disallowed
        }
    }

    static func direction(of character: Unicode.Scalar) -> Direction {
        Direction(rawValue: directions.run(of: character).run.kind) ?? .neutral
    }

    static func joining(of character: Unicode.Scalar) -> Joining {
        Joining(rawValue: joiningTypes.run(of: character).run.kind) ?? .none
    }

    private static func mappedTo(_ number: UInt32) -> Status {
        Unicode.Scalar(number).map { .mapped([$0]) } ?? .disallowed
    }

    private static let mapping = CharacterRuns(HostCharacterData.mapping)
    private static let directions = CharacterRuns(HostCharacterData.directions)
    private static let joiningTypes = CharacterRuns(HostCharacterData.joining)
    private static let mapped = HostCharacterData.mapped.numbers.compactMap(Unicode.Scalar.init)
}

/// A generated table (scripts/make/host-characters): what holds from one character to the next.
private struct CharacterRuns {
    struct Run {
        let start: UInt32
        let kind: UInt8
        var value: UInt32 = 0
    }

    private var runs: [Run] = []

    init(_ text: StaticString) {
        var digits = text.digits[...]
        while let start = digits.popNumber(), let kind = digits.popFirst() {
            let hasValue = kind == UInt8(ascii: "d") || kind == UInt8(ascii: "s")
            runs.append(Run(start: start, kind: kind, value: hasValue ? digits.popNumber() ?? 0 : 0))
        }
    }

    /// Returns the run that has the character, and the character's place in it.
    func run(of character: Unicode.Scalar) -> (run: Run, offset: UInt32) {
        var (low, high) = (0, runs.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if runs[middle].start <= character.value { low = middle } else { high = middle }
        }
        return (runs[low], character.value - runs[low].start)
    }
}

extension StaticString {
    /// The text without its line ends.
    fileprivate var digits: [UInt8] { description.utf8.filter { $0 != UInt8(ascii: "\n") } }

    /// The numbers that the text consists of.
    var numbers: [UInt32] {
        var (digits, numbers) = (digits[...], [UInt32]())
        while let number = digits.popNumber() { numbers.append(number) }
        return numbers
    }
}

extension ArraySlice<UInt8> {
    /// Removes a number of four digits in base 32 from the start.
    fileprivate mutating func popNumber() -> UInt32? {
        guard count >= 4 else { return nil }
        defer { removeFirst(4) }
        return prefix(4).reduce(0) { $0 << 5 | UInt32($1 - 0x30) }
    }
}
