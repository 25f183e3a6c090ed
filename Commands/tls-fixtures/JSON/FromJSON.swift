internal import DirectJSON

/// A type that reads a JSON value itself, without Swift's containers.
protocol FromJSON: Decodable {
    /// Reads the value. The caller adds to an error the members that lead to the value.
    init(_ value: JSONValue) throws(FieldError)
}

extension FromJSON {
    init(from decoder: any Decoder) throws { try self.init(decoder.strict.value) }
}

extension Decoder {
    /// The decoder, for initialisers that read members by name. Types of this program know no other decoder.
    var strict: StrictDecoder {
        get throws(FieldError) {
            guard let decoder = self as? StrictDecoder else { throw FieldError(line: 0, what: "not JSON") }
            return decoder
        }
    }
}

/// A type with a rule that its members do not show. The decoder reports the fault with the line of the value.
/// It does not ask a type that is ``Inlined``.
protocol Checked: Decodable {
    /// What is wrong with the value, or `nil`.
    var fault: String? { get }
}

/// A type whose members are among those of the object that contains it.
protocol Inlined: Decodable {}

/// A member's type that has a value for the member's absence.
protocol MayBeAbsent: Decodable {
    /// Creates the value for the absence.
    init()
}

/// One of a few words. An error lists them.
protocol Choice: RawRepresentable, CaseIterable, FromJSON, Sendable where RawValue == String {}

extension Choice {
    init(_ value: JSONValue) throws(FieldError) {
        let word = try value.text()
        guard let choice = Self(rawValue: word) else {
            throw value.unknown(word, known: Self.allCases.map(\.rawValue).joined(separator: ", "))
        }
        self = choice
    }
}

extension JSONValue: FromJSON {
    /// Takes any value as it is.
    init(_ value: JSONValue) { self = value }
}

extension String: FromJSON {
    init(_ value: JSONValue) throws(FieldError) { self = try value.text() }
}

extension Bool: FromJSON {
    init(_ value: JSONValue) throws(FieldError) {
        guard case .bool(let flag) = value.content else { throw value.wrong("true or false") }
        self = flag
    }
}

extension FromJSON where Self: FixedWidthInteger {
    init(_ value: JSONValue) throws(FieldError) {
        guard case .number(let text) = value.content, let number = Self(text) else {
            throw value.wrong("a whole number from \(Self.min) to \(Self.max)")
        }
        self = number
    }
}

extension Int: FromJSON {}
extension Int64: FromJSON {}
extension UInt8: FromJSON {}
extension UInt16: FromJSON {}
extension UInt32: FromJSON {}
extension UInt64: FromJSON {}

extension Optional: FromJSON where Wrapped: Decodable {
    init(_ value: JSONValue) throws(FieldError) {
        self = value.content == .null ? nil : try StrictDecoder.decode(Wrapped.self, from: value)
    }
}

/// Bytes are not a list of numbers but a text in which each character stands for one byte (Latin-1).
extension Array: FromJSON where Element: Decodable {
    init(_ value: JSONValue) throws(FieldError) {
        if Element.self is UInt8.Type, let bytes = try value.bytes() as? Self {
            self = bytes
        } else {
            self = try value.elements().map { element throws(FieldError) in
                try StrictDecoder.decode(from: element)
            }
        }
    }
}
