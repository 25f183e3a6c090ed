internal import DirectJSON

/// Access to the members of a line of JSON output.
extension JSONValue {
    /// The member of an object with this name.
    subscript(name: String) -> JSONValue? {
        guard case .object(let members) = content else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The text of a string.
    var text: String? {
        if case .string(let text) = content { text } else { nil }
    }

    /// The value of a number without a fraction.
    var number: Int? {
        if case .number(let text) = content { Int(text) } else { nil }
    }

    /// The value of `true` or `false`.
    var flag: Bool? {
        if case .bool(let flag) = content { flag } else { nil }
    }

    /// The elements of an array.
    var elements: [JSONValue]? {
        if case .array(let elements) = content { elements } else { nil }
    }
}
