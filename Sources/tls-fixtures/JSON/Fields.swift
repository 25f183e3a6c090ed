internal import DirectJSON

/// Something in a file of ours is not as its schema says.
struct FieldFault: Error, Equatable {
    var line: Int
    var what: String
}

/// The fields of an object, each asked for once; what nobody asked for is an error at the end.
struct Fields: ~Copyable {
    let line: Int
    private var unread: [JSONValue.Member]

    init(_ value: JSONValue) throws(FieldFault) {
        guard case .object(let members) = value.content else {
            throw FieldFault(line: value.line, what: "\(value.kind) stands where an object should be")
        }
        line = value.line
        unread = members
    }

    /// What a field holds; nothing if the field is absent.
    mutating func optional<Value>(
        _ name: String,
        _ read: (JSONValue) throws(FieldFault) -> Value
    ) throws(FieldFault) -> Value? {
        guard let index = unread.firstIndex(where: { $0.name == name }) else { return nil }
        let member = unread.remove(at: index)
        do throws(FieldFault) {
            return try read(member.value)
        } catch {
            throw FieldFault(line: error.line, what: "\(name): \(error.what)")
        }
    }

    /// What a field holds; its absence is an error.
    mutating func required<Value>(
        _ name: String,
        _ read: (JSONValue) throws(FieldFault) -> Value
    ) throws(FieldFault) -> Value {
        guard let value = try optional(name, read) else {
            throw FieldFault(line: line, what: "the field \"\(name)\" is missing")
        }
        return value
    }

    /// To be called last: is there a field that nobody knows?
    consuming func end() throws(FieldFault) {
        guard let member = unread.first else { return }
        throw FieldFault(line: member.value.line, what: "there is no field \"\(member.name)\"")
    }
}

/// What a field may hold; each of these reads one kind of value.
enum Read {
    static func text(_ value: JSONValue) throws(FieldFault) -> String {
        guard case .text(let text) = value.content else { throw value.wrong("a text") }
        return text
    }

    static func flag(_ value: JSONValue) throws(FieldFault) -> Bool {
        guard case .flag(let flag) = value.content else { throw value.wrong("true or false") }
        return flag
    }

    static func integer<Integer: FixedWidthInteger>(_ value: JSONValue) throws(FieldFault) -> Integer {
        guard case .number(let text) = value.content, let integer = Integer(text) else {
            throw value.wrong("a whole number from \(Integer.min) to \(Integer.max)")
        }
        return integer
    }

    /// A text each of whose characters is one byte.
    static func bytes(_ value: JSONValue) throws(FieldFault) -> [UInt8] {
        var bytes: [UInt8] = []
        for scalar in try text(value).unicodeScalars {
            guard let byte = UInt8(exactly: scalar.value) else {
                throw FieldFault(line: value.line, what: "U+\(String(scalar.value, radix: 16)) is no byte")
            }
            bytes.append(byte)
        }
        return bytes
    }

    static func elements(_ value: JSONValue) throws(FieldFault) -> [JSONValue] {
        guard case .list(let elements) = value.content else { throw value.wrong("a list") }
        return elements
    }

    static func list<Element>(
        of read: @escaping (JSONValue) throws(FieldFault) -> Element
    ) -> (JSONValue) throws(FieldFault) -> [Element] {
        { value throws(FieldFault) in
            var list: [Element] = []
            for element in try elements(value) { list.append(try read(element)) }
            return list
        }
    }

    static func texts(_ value: JSONValue) throws(FieldFault) -> [String] {
        try list(of: text)(value)
    }

    /// One of the words that a type knows.
    static func choice<Choice: RawRepresentable & CaseIterable>(_ value: JSONValue) throws(FieldFault)
        -> Choice
    where Choice.RawValue == String {
        let word = try text(value)
        guard let choice = Choice(rawValue: word) else {
            let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw FieldFault(line: value.line, what: "\"\(word)\" is none of \(known)")
        }
        return choice
    }
}

extension JSONValue {
    var isNull: Bool { content == .null }

    func wrong(_ wanted: String) -> FieldFault {
        FieldFault(line: line, what: "\(kind) stands where \(wanted) should be")
    }
}

extension Read {
    static func textOrNull(_ value: JSONValue) throws(FieldFault) -> String? {
        value.isNull ? nil : try text(value)
    }
}
