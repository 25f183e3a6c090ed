/// A syntax error in a JSON text.
package struct JSONError: Error, Equatable, CustomStringConvertible {
    /// The line of the error, counted from 1.
    package let line: Int
    /// The error as a short English text.
    package let what: String

    /// The error with its line.
    package var description: String { "line \(line): \(what)" }
}

/// A strict parser for JSON (RFC 8259).
///
/// It refuses what the RFC leaves open: duplicate names in an object, lone surrogates, a byte order mark, and
/// anything after the value are errors.
package struct JSONReader {
    /// Parses text that consists of one value.
    package static func read(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
        var reader = JSONReader(bytes: bytes)
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.position == bytes.count else { throw reader.fault("unexpected text after the value") }
        return value
    }

    private let bytes: [UInt8]
    private var position = 0
    private var line = 1

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        guard depth < Self.depthLimit else { throw fault("nested too deeply") }
        skipSpace()
        let line = line
        let content: JSONValue.Content
        switch peek {
        case UInt8(ascii: "{"): content = .object(try members(depth: depth))
        case UInt8(ascii: "["): content = .array(try elements(depth: depth))
        case UInt8(ascii: "\""): content = .string(try text())
        case let byte? where byte == UInt8(ascii: "-") || Self.isDigit(byte): content = .number(try number())
        case UInt8(ascii: "t"): content = try word("true", content: .bool(true))
        case UInt8(ascii: "f"): content = try word("false", content: .bool(false))
        case UInt8(ascii: "n"): content = try word("null", content: .null)
        case nil: throw fault("expected a value, found the end of the text")
        default: throw fault("expected a value")
        }
        return JSONValue(content: content, line: line)
    }

    private mutating func members(depth: Int) throws(JSONError) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        // Used for many members only: a few names are compared faster than hashed.
        var names: Set<String> = []
        try sequence(until: UInt8(ascii: "}")) { (reader: inout Self) throws(JSONError) in
            guard reader.peek == UInt8(ascii: "\"") else {
                throw reader.fault("a member needs a name in quotes")
            }
            // Errors quote it as JSON, escaped: the text may come from a server, and the error may go to a
            // log.
            let name = try reader.text()
            if members.count == Self.fewMembers { names = Set(members.map(\.name)) }
            let isNew =
                members.count < Self.fewMembers
                ? !members.contains { $0.name == name } : names.insert(name).inserted
            guard isNew else {
                throw reader.fault("\(JSONValue.string(name)) is a duplicate name")
            }
            reader.skipSpace()
            guard reader.take(UInt8(ascii: ":")) else {
                throw reader.fault("a colon is missing after \(JSONValue.string(name))")
            }
            members.append(JSONValue.Member(name: name, value: try reader.value(depth: depth + 1)))
        }
        return members
    }

    private mutating func elements(depth: Int) throws(JSONError) -> [JSONValue] {
        var elements: [JSONValue] = []
        try sequence(until: UInt8(ascii: "]")) { (reader: inout Self) throws(JSONError) in
            elements.append(try reader.value(depth: depth + 1))
        }
        return elements
    }

    /// Parses elements that are separated by commas, without a comma at the end, up to the closing bracket.
    private mutating func sequence(
        until end: UInt8,
        _ element: (inout Self) throws(JSONError) -> Void
    ) throws(JSONError) {
        position += 1
        skipSpace()
        if take(end) { return }
        while true {
            skipSpace()
            try element(&self)
            skipSpace()
            if take(end) { return }
            guard take(UInt8(ascii: ",")) else { throw fault("expected a comma or a closing bracket") }
        }
    }

    private mutating func text() throws(JSONError) -> String {
        position += 1
        let start = position
        // Most strings are ASCII without escapes: they are taken as they are.
        while let byte = peek, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"),
            (0x20..<0x80).contains(byte)
        {
            position += 1
        }
        guard peek != UInt8(ascii: "\"") else {
            defer { position += 1 }
            return String(decoding: bytes[start..<position], as: UTF8.self)
        }
        return try text(from: start)
    }

    /// Parses the rest of a string whose first bytes, from `start`, need no decoding.
    private mutating func text(from start: Int) throws(JSONError) -> String {
        var scalars = Array(bytes[start..<position])
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                guard let text = String(validating: scalars, as: UTF8.self) else {
                    throw fault("a string is not UTF-8")
                }
                return text
            case UInt8(ascii: "\\"):
                position += 1
                scalars += String(try escaped()).utf8
            case 0..<0x20: throw fault("a string contains an unescaped control character")
            default:
                scalars.append(byte)
                position += 1
            }
        }
        throw fault("a string is not terminated")
    }

    private mutating func escaped() throws(JSONError) -> Character {
        guard let byte = peek else { throw fault("a string is not terminated") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Character(Unicode.Scalar(byte))
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return Character(try escapedScalar())
        default: throw fault("unknown escape sequence")
        }
    }

    /// Parses the digits after `\u`: one UTF-16 code unit, or a surrogate pair with a second `\u`.
    private mutating func escapedScalar() throws(JSONError) -> Unicode.Scalar {
        let unit = try fourDigits()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard UTF16.isLeadSurrogate(UInt16(unit)), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            throw fault("unpaired surrogate")
        }
        let second = try fourDigits()
        guard UTF16.isTrailSurrogate(UInt16(second)),
            let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (second - 0xDC00))
        else { throw fault("unpaired surrogate") }
        return scalar
    }

    private mutating func fourDigits() throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw fault("\\u needs four hexadecimal digits")
            }
            position += 1
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    private mutating func number() throws(JSONError) -> String {
        let start = position
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) { try digits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "-")) { _ = take(UInt8(ascii: "+")) }
            try digits()
        }
        if let byte = peek, Self.isDigit(byte) { throw fault("a number has a leading zero") }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func digits() throws(JSONError) {
        let start = position
        while let byte = peek, Self.isDigit(byte) { position += 1 }
        guard position > start else { throw fault("a number lacks digits") }
    }

    private mutating func word(_ word: String, content: JSONValue.Content) throws(JSONError)
        -> JSONValue.Content
    {
        for byte in word.utf8 where !take(byte) { throw fault("expected a value") }
        return content
    }

    private mutating func skipSpace() {
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\n"): line += 1
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): break
            default: return
            }
            position += 1
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        position += 1
        return true
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func fault(_ what: String) -> JSONError { JSONError(line: line, what: what) }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// The number of members up to which an object's names are compared one by one.
    private static let fewMembers = 32

    /// The maximum nesting depth. None of our files comes near it, and a thread's stack would allow much
    /// more.
    private static let depthLimit = 64
}
