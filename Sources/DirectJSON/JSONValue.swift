internal import DirectCore

/// A JSON value as it was written: members in order, numbers as text, each value with its line.
package struct JSONValue: Equatable, Sendable {
    /// The value itself.
    package enum Content: Equatable, Sendable {
        /// `null`.
        case null
        /// `true` or `false`.
        case bool(Bool)
        /// A number in the grammar of RFC 8259, section 6. The caller chooses the numeric type.
        case number(String)
        /// A string.
        case string(String)
        /// An array.
        case array([JSONValue])
        /// An object, with its members in order.
        case object([Member])
    }

    /// A member of an object.
    package struct Member: Equatable, Sendable {
        /// The member's name.
        package let name: String
        /// The member's value.
        package let value: JSONValue
    }

    /// The value itself.
    package var content: Content
    /// The line on which the value begins, counted from 1, or 0 if it was not parsed.
    package var line = 0

    /// The kind of value, as error messages name it.
    package var kind: String {
        switch content {
        case .null: "null"
        case .bool: "true or false"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension JSONValue {
    /// `null`.
    package static let null = JSONValue(content: .null)
    /// Returns a Boolean value.
    package static func bool(_ value: Bool) -> JSONValue { JSONValue(content: .bool(value)) }
    /// Returns a number.
    package static func number(_ number: Int) -> JSONValue { JSONValue(content: .number(String(number))) }
    /// Returns a string.
    package static func string(_ text: String) -> JSONValue { JSONValue(content: .string(text)) }
    /// Returns an array.
    package static func array(_ elements: [JSONValue]) -> JSONValue { JSONValue(content: .array(elements)) }

    /// Returns a number with a fraction, of a text in the grammar of RFC 8259.
    package static func number(text: String) -> JSONValue { JSONValue(content: .number(text)) }

    /// Returns an object with these members in order.
    package static func object(members: [(String, JSONValue)]) -> JSONValue {
        JSONValue(content: .object(members.map { Member(name: $0.0, value: $0.1) }))
    }

    /// Returns an object with these members in order.
    package static func object(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
        JSONValue(content: .object(members.map { Member(name: $0.key, value: $0.value) }))
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value as JSON on one line.
    package var description: String {
        switch content {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let text): text
        case .string(let text): Self.quoted(text)
        case .array(let elements): "[" + elements.map(\.description).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { Self.quoted($0.name) + ":" + $0.value.description }.joined(separator: ",")
                + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case " "..."~": result.unicodeScalars.append(scalar)
            // More than the grammar requires: others can affect terminals or mislead readers, too.
            case _ where scalar.isDeceptive:
                for unit in String(scalar).utf16 { result += "\\u" + Hex.encode(padded: unit) }
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
