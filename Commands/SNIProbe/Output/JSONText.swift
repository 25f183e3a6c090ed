internal import DirectJSON

/// Writes the members of a JSON object, in their order.
struct JSONText {
    private var members: [(String, JSONValue)] = []

    /// Writes an object.
    init(_ body: (inout JSONText) -> Void) {
        body(&self)
    }

    var value: JSONValue { .object(members: members) }

    /// The object on one line. Control characters and other deceptive characters are escaped, so it is safe
    /// to print on a terminal.
    var bytes: [UInt8] { Array(value.description.utf8) }

    mutating func object(_ key: String, body: (inout JSONText) -> Void) {
        members.append((key, JSONText(body).value))
    }

    /// Writes a member with a list of objects.
    mutating func list<Elements: Sequence>(
        _ key: String,
        elements: Elements,
        write: (inout JSONText, Elements.Element) -> Void
    ) {
        let objects = elements.map { element in JSONText { write(&$0, element) }.value }
        members.append((key, .array(objects)))
    }

    mutating func list(_ key: String, texts: [String]?) {
        add(key, value: texts.map { .array($0.map(JSONValue.string)) })
    }

    mutating func field(_ key: String, value text: String?) { add(key, value: text.map(JSONValue.string)) }

    mutating func field(_ key: String, value number: Int?) { add(key, value: number.map(JSONValue.number)) }

    mutating func field(_ key: String, value flag: Bool?) { add(key, value: flag.map(JSONValue.bool)) }

    /// Writes a member with a duration in milliseconds with one decimal place.
    mutating func field(_ key: String, milliseconds duration: Duration?) {
        add(key, value: duration.map { .number(text: Words.tenths(Words.tenth($0))) })
    }

    mutating func null(_ key: String) { add(key, value: nil) }

    private mutating func add(_ key: String, value: JSONValue?) {
        members.append((key, value ?? .null))
    }
}
