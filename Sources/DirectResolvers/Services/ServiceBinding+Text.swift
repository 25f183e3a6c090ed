internal import DirectCore

/// The data of a record as zone files have it, and services in JSON: in the form for HTTPS records (RFC 9460,
/// section 2.1 and appendix A), or in that for types that a server does not know (RFC 3597, section 5).
extension ServiceBinding {
    /// Parses the text; `nil` if it is malformed.
    init?(text: String) {
        guard let marked = Self.words(text), marked.count >= 2 else { return nil }
        let words = marked.map { $0.map(UInt8.init(truncatingIfNeeded:)) }
        if words[0] == Array("#".utf8) {
            let digits = String(decoding: words[2...].joined(), as: UTF8.self)
            guard let data = Hex.decode(digits), Self.number(words[1]) == data.count else { return nil }
            self.init(data)
            return
        }
        guard let priority = Self.number(words[0]).flatMap({ UInt16(exactly: $0) }) else { return nil }
        var parameters: [(key: UInt16, value: [UInt8])] = []
        for word in words[2...] {
            let name = word.prefix { $0 != UInt8(ascii: "=") }
            guard !name.isEmpty else { return nil }
            // The number of a key that is not known here is not known either.
            guard let key = Self.key(name) else { continue }
            guard let value = Self.value(Array(word.dropFirst(name.count + 1)), of: key) else { return nil }
            parameters.append((key, value))
        }
        guard let name = Self.name(marked[1]) else { return nil }
        var data = priority.bigEndianBytes + name
        for (key, value) in parameters.sorted(by: { $0.key < $1.key }) {
            guard let length = UInt16(exactly: value.count) else { return nil }
            data += key.bigEndianBytes + length.bigEndianBytes + value
        }
        self.init(data)
    }

    /// Returns a name as messages have it; `nil` if a label is empty or too long.
    private static func name(_ word: [UInt16]) -> [UInt8]? {
        let dot = UInt16(UInt8(ascii: "."))
        guard word != [dot] else { return [0] }
        let text = word.last == dot ? word.dropLast() : word[...]
        let labels = text.split(separator: dot, omittingEmptySubsequences: false)
        guard labels.allSatisfy({ (1..<64).contains($0.count) }) else { return nil }
        return labels.flatMap { [UInt8($0.count)] + $0.map(UInt8.init(truncatingIfNeeded:)) } + [0]
    }

    private static func number(_ text: some Collection<UInt8>) -> Int? {
        text.allSatisfy(\.isDigit) ? Int(String(decoding: text, as: UTF8.self)) : nil
    }

    /// Returns the number of a key (section 14.3.2); `nil` if its name is not known.
    private static func key(_ name: some Collection<UInt8>) -> UInt16? {
        let text = String(decoding: name, as: UTF8.self)
        if let index = names.firstIndex(of: text) { return UInt16(index) }
        return text.hasPrefix("key") ? number(name.dropFirst(3)).flatMap { UInt16(exactly: $0) } : nil
    }

    private static let names = [
        "mandatory", "alpn", "no-default-alpn", "port", "ipv4hint", "ech", "ipv6hint", "dohpath", "ohttp",
    ]
    /// A key that no record has (section 14.3.2).
    private static let invalidKey: UInt16 = 0xFFFF

    /// Returns the bytes of a value; `nil` if the text is not in the form that its key demands.
    private static func value(_ text: [UInt8], of key: UInt16) -> [UInt8]? {
        let list = text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        switch Key(rawValue: Int(key)) {
        case .mandatory:
            return Set(list.map { Self.key($0) ?? invalidKey }).sorted().flatMap(\.bigEndianBytes)
        case .alpn: return protocols(text)
        case .port: return number(text).flatMap { UInt16(exactly: $0)?.bigEndianBytes }
        case .ipv4Hint, .ipv6Hint:
            let size = key == 4 ? 4 : 16
            let hints = list.map { IPAddress(String(decoding: $0, as: UTF8.self))?.bytes ?? [] }
            return hints.allSatisfy { $0.count == size } ? hints.flatMap { $0 } : nil
        case .ech: return Base64.decode(String(decoding: text, as: UTF8.self))
        case .noDefaultALPN, nil: return text
        }
    }

    /// Reads a list in which a backslash precedes commas and backslashes that are part of a name.
    private static func protocols(_ text: [UInt8]) -> [UInt8]? {
        var names: [[UInt8]] = [[]]
        var rest = text[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: ",") {
                names.append([])
            } else if byte != UInt8(ascii: "\\") {
                names[names.count - 1].append(byte)
            } else if let escaped = rest.popFirst() {
                names[names.count - 1].append(escaped)
            }
        }
        guard names.allSatisfy({ $0.count < 256 }) else { return nil }
        return names.flatMap { [UInt8($0.count)] + $0 }
    }

    /// Returns the words of a line of a zone file without quotation marks and escapes (RFC 1035, section
    /// 5.1); `nil` if a quotation or an escape does not end. The bytes of escapes are marked by `escape`.
    private static func words(_ text: String) -> [[UInt16]]? {
        var rest = Array(text.utf8)[...]
        var words: [[UInt16]] = []
        var (isInWord, isQuoted) = (false, false)
        while let byte = rest.popFirst() {
            if !isQuoted, byte == UInt8(ascii: " ") {
                isInWord = false
                continue
            }
            if !isInWord { words.append([]) }
            isInWord = true
            switch byte {
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: "\\"):
                guard let escaped = escaped(&rest) else { return nil }
                words[words.count - 1].append(UInt16(escaped) | escape)
            default: words[words.count - 1].append(UInt16(byte))
            }
        }
        return isQuoted ? nil : words
    }

    private static let escape: UInt16 = 0x100

    /// Reads what follows a backslash: a character, or the number of a byte in three digits.
    private static func escaped(_ rest: inout ArraySlice<UInt8>) -> UInt8? {
        guard let first = rest.first, first.isDigit else { return rest.popFirst() }
        let digits = rest.prefix(3)
        rest = rest.dropFirst(3)
        return digits.count == 3 ? number(digits).flatMap { UInt8(exactly: $0) } : nil
    }
}
