internal import DirectJSON

/// The members of a JSON object, each read once. A member that was never read is an error at the end.
struct Fields: ~Copyable {
    let line: Int
    private var unread: [JSONValue.Member]

    init(_ value: JSONValue) throws(FieldError) {
        guard case .object(let members) = value.content else {
            throw FieldError(line: value.line, what: "expected an object, found \(value.kind)")
        }
        line = value.line
        unread = members
    }

    /// Reads a member. Returns `nil` if it is absent.
    ///
    /// - Throws: ``FieldError`` from `read`, with the member's name added.
    mutating func optional<Value>(
        _ name: String,
        read: (JSONValue) throws(FieldError) -> Value
    ) throws(FieldError) -> Value? {
        guard let index = unread.firstIndex(where: { $0.name == name }) else { return nil }
        let member = unread.remove(at: index)
        do throws(FieldError) {
            return try read(member.value)
        } catch {
            throw FieldError(line: error.line, what: "\(name): \(error.what)")
        }
    }

    /// Reads a member that must be present.
    mutating func required<Value>(
        _ name: String,
        read: (JSONValue) throws(FieldError) -> Value
    ) throws(FieldError) -> Value {
        guard let value = try optional(name, read: read) else {
            throw FieldError(line: line, what: "the field \"\(name)\" is missing")
        }
        return value
    }

    /// Throws if a member was not read, which means that its name is unknown. Call this last.
    consuming func end() throws(FieldError) {
        guard let member = unread.first else { return }
        throw FieldError(line: member.value.line, what: "there is no field \"\(member.name)\"")
    }
}

/// Readers for single JSON values. Each throws ``FieldError`` if the value is of another kind.
enum Read {
    static func text(_ value: JSONValue) throws(FieldError) -> String {
        guard case .string(let text) = value.content else { throw value.wrong("a string") }
        return text
    }

    static func flag(_ value: JSONValue) throws(FieldError) -> Bool {
        guard case .bool(let flag) = value.content else { throw value.wrong("true or false") }
        return flag
    }

    static func integer<Integer: FixedWidthInteger>(_ value: JSONValue) throws(FieldError) -> Integer {
        guard case .number(let text) = value.content, let integer = Integer(text) else {
            throw value.wrong("a whole number from \(Integer.min) to \(Integer.max)")
        }
        return integer
    }

    /// Reads a text in which each character stands for one byte (Latin-1).
    static func bytes(_ value: JSONValue) throws(FieldError) -> [UInt8] {
        var bytes: [UInt8] = []
        for scalar in try text(value).unicodeScalars {
            guard let byte = UInt8(exactly: scalar.value) else {
                throw FieldError(line: value.line, what: "U+\(String(scalar.value, radix: 16)) is not a byte")
            }
            bytes.append(byte)
        }
        return bytes
    }

    static func elements(_ value: JSONValue) throws(FieldError) -> [JSONValue] {
        guard case .array(let elements) = value.content else { throw value.wrong("an array") }
        return elements
    }

    /// Returns a reader for a list whose elements `read` reads.
    static func list<Element>(
        of read: @escaping (JSONValue) throws(FieldError) -> Element
    ) -> (JSONValue) throws(FieldError) -> [Element] {
        { value throws(FieldError) in
            var list: [Element] = []
            for element in try elements(value) { list.append(try read(element)) }
            return list
        }
    }

    static func texts(_ value: JSONValue) throws(FieldError) -> [String] {
        try list(of: text)(value)
    }

    /// Reads one of the raw values of an enumeration.
    static func choice<Choice: RawRepresentable & CaseIterable>(_ value: JSONValue) throws(FieldError)
        -> Choice
    where Choice.RawValue == String {
        let word = try text(value)
        guard let choice = Choice(rawValue: word) else {
            let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw FieldError(line: value.line, what: "\"\(word)\" is not one of \(known)")
        }
        return choice
    }
}

extension JSONValue {
    var isNull: Bool { content == .null }
}

extension Read {
    static func textOrNull(_ value: JSONValue) throws(FieldError) -> String? {
        value.isNull ? nil : try text(value)
    }
}
