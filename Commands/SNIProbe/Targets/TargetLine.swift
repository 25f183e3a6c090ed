/// A parsed line of a file.
struct TargetLine {
    /// The targets, with their own addresses if they have any.
    var targets: [(target: ProbeTarget, ranges: [ProbeAddresses])] = []
    /// The addresses of a line without a target. They are for the targets of the command line.
    var addresses: [ProbeAddresses] = []

    /// Whether the line consists of one name with a trailing dot. This is how `dig +short` prints the aliases
    /// before the addresses, and unlikely to be typed as a target.
    private(set) var isAlias = false

    /// Parses a line. It contains the same words as the command line, `IP name…` as in hosts(5), `IP,name` as
    /// for zgrab2, or addresses alone. A word that begins with `#` ends the line.
    init(_ line: some StringProtocol) throws(TargetError) {
        // Bytes are compared, not characters: a list may have a million lines.
        var words: [Substring] = []
        for word in Substring(line).utf8.split(whereSeparator: { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) {
            guard word.first != UInt8(ascii: "#") else { break }
            words.append(Substring(word))
        }
        guard let first = words.first else { return }
        if words.count == 1, first.utf8.contains(UInt8(ascii: ",")), try readPair(first) { return }
        isAlias = words.count == 1 && first.utf8.last == UInt8(ascii: ".")
        try read(words)
    }

    /// Parses `IP,name`. After a second comma there may be a tag, which is ignored. Returns whether the word
    /// has this form.
    private mutating func readPair(_ word: Substring) throws(TargetError) -> Bool {
        let parts = word.split(separator: ",", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count > 1, let range = try? ProbeAddresses(parts[0]) else { return false }
        if (try? ProbeAddresses(parts[1])) != nil { return false }
        if parts[1].isEmpty {
            addresses = [range]
        } else {
            try add([TargetWord(String(parts[1]))], at: [range])
        }
        return true
    }

    private mutating func read(_ words: [Substring]) throws(TargetError) {
        var named: [TargetWord] = []
        var ranges: [ProbeAddresses] = []
        for word in words {
            // In a file an address needs no @.
            if word.mayBeAddresses, let found = try? TargetWord.addresses(word) {
                ranges += found
                continue
            }
            switch try TargetWord(String(word)) {
            case .addresses(let found): ranges += found
            case let target: named.append(target)
            }
        }
        if named.isEmpty { addresses = ranges }
        try add(named, at: ranges)
    }

    private mutating func add(_ words: [TargetWord], at ranges: [ProbeAddresses]) throws(TargetError) {
        for case .target(let target, let own) in words {
            targets.append((target, own.isEmpty ? ranges : own))
        }
    }
}

extension Substring {
    /// Whether each byte may occur in an address or a list of addresses. A zone may have any bytes.
    fileprivate var mayBeAddresses: Bool {
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "%"): return true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: "."), UInt8(ascii: ":"),
                UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "/"), UInt8(ascii: ","):
                continue
            default: return false
            }
        }
        return true
    }
}
