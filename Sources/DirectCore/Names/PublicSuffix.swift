/// The public suffix of a name: the part of it below which the public can register names, by the rules of the
/// Public Suffix List that the package contains (docs/Cookies.md).
///
/// The rules are a tree of labels in the form that `scripts/make/public-suffixes` describes. They are
/// searched where they lie in the program's file: nothing is read or built at the start.
struct PublicSuffix {
    /// The index in the name's bytes at which the suffix begins.
    private(set) var start: Int
    /// Whether the rule is in the list's private section. Owners of domains asked for these rules, such as
    /// `github.io`; the others are those of registries.
    private(set) var isPrivate = false

    /// Finds the suffix of a name in lower case without trailing dot: that of the longest matching rule, or
    /// the last label if no rule matches.
    init(of name: Span<UInt8>) {
        var label = Self.lastLabel(of: name, endingAt: name.count)
        start = label.lowerBound
        guard var rule = Rule(name.extracting(label), in: 0..<Self.topLevelLength) else { return }
        take(rule, label: label)
        while label.lowerBound > 0, rule.has(.wildcard) || rule.has(.parent) {
            label = Self.lastLabel(of: name, endingAt: label.lowerBound - 1)
            let found = rule.children.flatMap { Rule(name.extracting(label), in: $0) }
            // An exception (`!` in the list) is a name that can be registered although a wildcard rule covers
            // it.
            if let found, found.has(.exception) {
                start = label.upperBound + 1
                return
            }
            if rule.has(.wildcard) {
                start = label.lowerBound
                isPrivate = rule.has(.privateSection)
            }
            guard let found else { return }
            take(found, label: label)
            rule = found
        }
    }

    /// Moves the start of the suffix to this label if a rule ends there.
    private mutating func take(_ rule: Rule, label: Range<Int>) {
        guard rule.has(.rule) else { return }
        start = label.lowerBound
        isPrivate = rule.has(.privateSection)
    }

    /// Returns the range of the label that ends at `end`.
    private static func lastLabel(of name: Span<UInt8>, endingAt end: Int) -> Range<Int> {
        var start = end
        while start > 0, name[start - 1] != UInt8(ascii: ".") { start -= 1 }
        return start..<end
    }
}

/// The entry of one label in the tree.
private struct Rule {
    enum Flag: UInt8 {
        case rule = 1
        case privateSection = 2
        case wildcard = 4
        case exception = 8
        case parent = 16
    }

    private let flags: UInt8
    /// The range of the labels below it, if it has any.
    let children: Range<Int>?

    func has(_ flag: Flag) -> Bool { flags & flag.rawValue != 0 }

    /// Finds the entry of a label among those in `range`, by a binary search over bytes: each probe may land
    /// inside an entry, and moves back to its start.
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
                children =
                    unsafe here & Flag.parent.rawValue == 0 ? nil : Self.place(text, start: entry + index + 1)
                return
            }
            // Of two labels of which one begins with the other, the shorter one comes first.
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

    /// Returns the range that is written as two numbers: its start and its length.
    private static func place(_ text: UnsafeBufferPointer<UInt8>, start: Int) -> Range<Int> {
        let first = unsafe number(text, start: start)
        return unsafe first..<(first + number(text, start: start + 4))
    }

    /// Returns the number that is written as four digits in base 32.
    private static func number(_ text: UnsafeBufferPointer<UInt8>, start: Int) -> Int {
        unsafe text[start..<(start + 4)].reduce(0) { $0 << 5 | Int($1 - UInt8(ascii: "0")) }
    }
}

extension UInt8 {
    /// Whether the byte holds a label's flags. No label contains such a byte.
    fileprivate var endsLabel: Bool { self & 0xE0 == 0x40 && self != UInt8(ascii: "_") }
}

extension DomainName {
    /// Whether the public can register names below this one: `com`, `co.uk`, `github.io`.
    package var isPublicSuffix: Bool { bytes.withSpan { PublicSuffix(of: $0).start } == 0 }

    /// The public suffix with one more label, which together with all names below it belongs to one owner;
    /// `nil` if the name is itself a public suffix.
    package var registrableDomain: DomainName? {
        let suffix = bytes.withSpan { PublicSuffix(of: $0).start }
        guard suffix > 0 else { return nil }
        let start = bytes[..<(suffix - 1)].lastIndex(of: UInt8(ascii: ".")).map { $0 + 1 } ?? 0
        return start == 0 ? self : DomainName(checked: Array(bytes[start...]))
    }
}
