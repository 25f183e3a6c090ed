/// Reads the value of a header field with parameters.
struct FieldReader {
    private var rest: Substring.UTF8View

    init(_ value: String) {
        rest = value[...].utf8
    }

    /// Reads parameters as far as there are any: `; name=value; name="value"`. The names are in lower case;
    /// the first of each counts.
    mutating func parameters(endingAt end: Unicode.Scalar? = nil) -> [String: String] {
        let ends = [UInt8(ascii: ";")] + (end.map { [UInt8(ascii: $0)] } ?? [])
        var all: [String: String] = [:]
        while skip(" ", "\t"), take(";") {
            _ = skip(" ", "\t")
            let name = text { !ends.contains($0) && !"= \t".utf8.contains($0) }.lowercased()
            var value = ""
            _ = skip(" ", "\t")
            if take("=") {
                _ = skip(" ", "\t")
                value = take("\"") ? quoted() : text { !ends.contains($0) }.withoutBlanksAtEnd
            }
            if !name.isEmpty, all[name] == nil { all[name] = value }
        }
        return all
    }

    /// Reads the rest of a quoted string.
    private mutating func quoted() -> String {
        var bytes: [UInt8] = []
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            guard byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() else {
                bytes.append(byte)
                continue
            }
            bytes.append(escaped)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads the bytes for which a condition holds.
    mutating func text(while isPart: (UInt8) -> Bool) -> String {
        let part = rest.prefix(while: isPart)
        rest = rest[part.endIndex...]
        return String(decoding: part, as: UTF8.self)
    }

    /// Takes a character, if it is the next one.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    /// Skips these characters. Always true, so that it can stand in a condition.
    mutating func skip(_ characters: Unicode.Scalar...) -> Bool {
        rest = rest.drop { byte in characters.contains { UInt8(ascii: $0) == byte } }
        return true
    }
}

extension String {
    fileprivate var withoutBlanksAtEnd: String {
        var text = self
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
