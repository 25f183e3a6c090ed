/// Names below which anybody can register, by the rules that the package carries (docs/Cookies.md).
///
/// The rules are a tree of labels, in the form that `scripts/public-suffixes` describes, and they are searched where
/// they lie in the program's file: nothing is read or built at the start.
struct PublicSuffix {
    /// Where the suffix of the name begins in its bytes.
    private(set) var start: Int
    /// Whether the rule is one of those that owners of domains asked for, such as `github.io`, and not of a
    /// registry's.
    private(set) var isPrivate = false

    /// The suffix of a name in lower case without trailing dot: the longest that a rule has, or the last label
    /// where none fits.
    init(of name: Span<UInt8>) {
        var label = Self.lastLabel(of: name, endingAt: name.count)
        start = label.lowerBound
        guard var rule = Rule(name.extracting(label), in: 0..<Self.topLevelLength) else { return }
        take(rule, label)
        while label.lowerBound > 0, rule.has(.wildcard) || rule.has(.parent) {
            label = Self.lastLabel(of: name, endingAt: label.lowerBound - 1)
            let found = rule.children.flatMap { Rule(name.extracting(label), in: $0) }
            // An exception is a name that can be registered, below a rule for all of its kind.
            if let found, found.has(.exception) {
                start = label.upperBound + 1
                return
            }
            if rule.has(.wildcard) {
                start = label.lowerBound
                isPrivate = rule.has(.privateSection)
            }
            guard let found else { return }
            take(found, label)
            rule = found
        }
    }

    private mutating func take(_ rule: Rule, _ label: Range<Int>) {
        guard rule.has(.rule) else { return }
        start = label.lowerBound
        isPrivate = rule.has(.privateSection)
    }

    private static func lastLabel(of name: Span<UInt8>, endingAt end: Int) -> Range<Int> {
        var start = end
        while start > 0, name[start - 1] != UInt8(ascii: ".") { start -= 1 }
        return start..<end
    }
}

/// What the tree says of one label.
private struct Rule {
    enum Flag: UInt8 {
        case rule = 1
        case privateSection = 2
        case wildcard = 4
        case exception = 8
        case parent = 16
    }

    private let flags: UInt8
    /// Where the labels below it are.
    let children: Range<Int>?

    func has(_ flag: Flag) -> Bool { flags & flag.rawValue != 0 }

    /// The entry of that label among those in `range`, by binary search for bytes that lie somewhere in an entry.
    init?(_ label: Span<UInt8>, in range: Range<Int>) {
        let text = unsafe UnsafeBufferPointer(
            start: PublicSuffix.rules.utf8Start,
            count: PublicSuffix.rules.utf8CodeUnitCount
        )
        var low = range.lowerBound
        var high = range.upperBound
        while low < high {
            var entry = low + (high - low) / 2
            while entry > low, unsafe text[entry - 1] > UInt8(ascii: " ") { entry -= 1 }
            var index = 0
            while index < label.count, unsafe text[entry + index] == label[index] { index += 1 }
            let here = unsafe text[entry + index]
            if index == label.count, here.endsLabel {
                flags = here & 0x1F
                children = unsafe here & Flag.parent.rawValue == 0 ? nil : Self.place(text, entry + index + 1)
                return
            }
            // Where a label ends, the shorter one comes first.
            if index < label.count, here.endsLabel || here < label[index] {
                low = entry + index
                while unsafe text[low] > UInt8(ascii: " ") { low += 1 }
                low += 1
            } else {
                high = entry
            }
        }
        return nil
    }

    private static func place(_ text: UnsafeBufferPointer<UInt8>, _ start: Int) -> Range<Int> {
        let first = unsafe number(text, start)
        return unsafe first..<(first + number(text, start + 4))
    }

    private static func number(_ text: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int {
        unsafe text[start..<(start + 4)].reduce(0) { $0 << 5 | Int($1 - UInt8(ascii: "0")) }
    }
}

extension UInt8 {
    /// A label's flags, which no label holds.
    fileprivate var endsLabel: Bool { self & 0xE0 == 0x40 && self != UInt8(ascii: "_") }
}

extension DomainName {
    /// Whether anybody can register below this name: `com`, `co.uk`, `github.io`.
    package var isPublicSuffix: Bool { bytes.withSpan { PublicSuffix(of: $0).start } == 0 }

    /// The public suffix with one label more, which belongs to one owner with all below it; nothing where the
    /// name is itself a public suffix.
    package var registrableDomain: DomainName? {
        let suffix = bytes.withSpan { PublicSuffix(of: $0).start }
        guard suffix > 0 else { return nil }
        let start = bytes[..<(suffix - 1)].lastIndex(of: UInt8(ascii: ".")).map { $0 + 1 } ?? 0
        return start == 0 ? self : DomainName(checked: Array(bytes[start...]))
    }
}
