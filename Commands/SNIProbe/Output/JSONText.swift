/// Writes a JSON object on one line. Control characters and other deceptive characters are escaped, so it is
/// safe to print on a terminal.
struct JSONText {
    private(set) var bytes: [UInt8] = []
    private var needsComma = false

    mutating func object(_ body: (inout JSONText) -> Void) {
        open(UInt8(ascii: "{"))
        body(&self)
        close(UInt8(ascii: "}"))
    }

    mutating func object(_ key: StaticString, body: (inout JSONText) -> Void) {
        name(key)
        object(body)
    }

    mutating func list<Elements: Sequence>(
        _ key: StaticString,
        elements: Elements,
        write: (inout JSONText, Elements.Element) -> Void
    ) {
        name(key)
        open(UInt8(ascii: "["))
        for element in elements { write(&self, element) }
        close(UInt8(ascii: "]"))
    }

    mutating func list(_ key: StaticString, texts: some Sequence<String>) {
        list(key, elements: texts) { $0.element($1) }
    }

    mutating func field(_ key: StaticString, value text: String?) {
        name(key)
        if let text { quote(text) } else { raw("null") }
        needsComma = true
    }

    mutating func field(_ key: StaticString, value number: Int?) {
        field(key, raw: number.map(String.init))
    }

    mutating func field(_ key: StaticString, value flag: Bool?) {
        field(key, raw: flag.map { $0 ? "true" : "false" })
    }

    /// Writes a member with a duration in milliseconds with one decimal place.
    mutating func field(_ key: StaticString, milliseconds duration: Duration?) {
        field(key, raw: duration.map { Words.tenths(Words.tenth($0)) })
    }

    private mutating func field(_ key: StaticString, raw text: String?) {
        name(key)
        raw(text ?? "null")
        needsComma = true
    }

    mutating func null(_ key: StaticString) {
        field(key, value: String?.none)
    }

    /// Writes a member whose name comes from the server, such as the name of a header field.
    mutating func list(named key: String, _ texts: [String]) {
        comma()
        quote(key)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
        open(UInt8(ascii: "["))
        for text in texts { element(text) }
        close(UInt8(ascii: "]"))
    }

    mutating func element(_ text: String) {
        comma()
        quote(text)
        needsComma = true
    }

    mutating func endLine() {
        bytes.append(UInt8(ascii: "\n"))
        needsComma = false
    }

    private mutating func name(_ key: StaticString) {
        comma()
        bytes.append(UInt8(ascii: "\""))
        raw(key.description)
        raw("\":")
        needsComma = false
    }

    private mutating func open(_ byte: UInt8) {
        comma()
        bytes.append(byte)
        needsComma = false
    }

    private mutating func close(_ byte: UInt8) {
        bytes.append(byte)
        needsComma = true
    }

    private mutating func comma() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = false
    }

    private mutating func raw(_ text: String) {
        bytes += text.utf8
    }

    private mutating func quote(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": raw("\\\"")
            case "\\": raw("\\\\")
            case " "..."~": bytes.append(UInt8(scalar.value))
            default:
                if scalar.isASCII || PlainText.isDeceptive(scalar) {
                    escape(scalar)
                } else {
                    bytes += String(Character(scalar)).utf8
                }
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ scalar: Unicode.Scalar) {
        for unit in String(Character(scalar)).utf16 {
            raw("\\u" + Words.padded(String(unit, radix: 16), to: 4, with: "0"))
        }
    }
}
