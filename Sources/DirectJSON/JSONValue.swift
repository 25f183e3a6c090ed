/// A JSON text as it was written: members in their order, numbers as text, each value with its line.
package struct JSONValue: Equatable, Sendable {
    package enum Content: Equatable, Sendable {
        case null
        case flag(Bool)
        /// In the grammar of RFC 8259, section 6; whoever wants a number decides which kind.
        case number(String)
        case text(String)
        case list([JSONValue])
        case object([Member])
    }

    package struct Member: Equatable, Sendable {
        package var name: String
        package var value: JSONValue
    }

    package var content: Content
    /// The line it begins on, counted from 1; 0 if it was never in a file.
    package var line = 0

    /// What a reader of an error calls it.
    package var kind: String {
        switch content {
        case .null: "null"
        case .flag: "true or false"
        case .number: "a number"
        case .text: "a text"
        case .list: "a list"
        case .object: "an object"
        }
    }
}

extension JSONValue {
    package static let null = JSONValue(content: .null)
    package static func flag(_ flag: Bool) -> JSONValue { JSONValue(content: .flag(flag)) }
    package static func number(_ number: Int) -> JSONValue { JSONValue(content: .number(String(number))) }
    package static func text(_ text: String) -> JSONValue { JSONValue(content: .text(text)) }
    package static func list(_ elements: [JSONValue]) -> JSONValue { JSONValue(content: .list(elements)) }

    package static func object(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
        JSONValue(content: .object(members.map { Member(name: $0.key, value: $0.value) }))
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value as JSON on one line.
    package var description: String {
        switch content {
        case .null: "null"
        case .flag(let flag): flag ? "true" : "false"
        case .number(let text): text
        case .text(let text): Self.quoted(text)
        case .list(let elements): "[" + elements.map(\.description).joined(separator: ",") + "]"
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
            // Beyond what the grammar asks for: DEL and C1 are no friends of terminals either.
            case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
