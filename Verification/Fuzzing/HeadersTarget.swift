import DirectHTTP1

extension FuzzTarget {
    /// The collection of header fields, which keeps them as bytes in a block with copy on write.
    ///
    /// - After any operations it has the same fields as an array of pairs, in the same order.
    /// - Changing one value does not change a copy of it.
    static let headers = FuzzTarget(name: "headers") { choices in
        let count = choices.number(below: 24)
        let operations = (0..<count).map { _ in (choices.number(below: 7), choices.word()) }
        let texts = choices.texts()
        var model = HeadersModel()
        for (kind, word) in operations {
            let name = texts[Int(word % UInt64(texts.count))].text
            let value = texts[Int(word >> 8 % UInt64(texts.count)) % texts.count]
            model.apply(kind, name: name, value: value)
        }
    }
}

/// Headers, and the same as an array.
private struct HeadersModel {
    private var headers = HTTPHeaders()
    private var fields: [(name: String, value: [UInt8])] = []
    /// A copy that was made earlier, with its fields.
    private var copies: [(HTTPHeaders, [String])] = []

    mutating func apply(_ kind: Int, name: String, value: [UInt8]) {
        switch kind {
        case 0, 1:
            headers.add(name, bytes: value)
            fields.append((name, value))
        case 2:
            headers.remove(name)
            fields.removeAll { Self.isSame($0.name, as: name) }
        case 3:
            let text = value.text
            headers[name] = text
            fields.removeAll { Self.isSame($0.name, as: name) }
            fields.append((name, Array(text.utf8)))
        case 4:
            headers[name] = nil
            fields.removeAll { Self.isSame($0.name, as: name) }
        case 5: copies.append((headers, lines))
        default: headers.reserve(fields: value.count, bytes: value.count * 4)
        }
        compare(name)
    }

    private func compare(_ name: String) {
        requireEqual(headers.count, fields.count, "the number of fields")
        requireEqual(Self.lines(of: headers), lines, "the fields in their order")
        let values = fields.filter { Self.isSame($0.name, as: name) }.map { Self.shown($0.value) }
        requireEqual(headers.values(for: name), values, "the values of a name")
        requireEqual(headers[name], values.first, "the first value")
        requireEqual(headers.contains(name), !values.isEmpty, "whether there is one")
        for (copy, lines) in copies { requireEqual(Self.lines(of: copy), lines, "a copy stays") }
        require(headers == HTTPHeaders(headers.map { ($0.name, $0.value) }) || hasOtherBytes, "equal")
    }

    /// Whether some value is not UTF-8, so that making it from text gives other bytes.
    private var hasOtherBytes: Bool { fields.contains { String(validating: $0.value, as: UTF8.self) == nil } }

    private var lines: [String] { fields.map { "\($0.name): \(Self.shown($0.value))" } }

    private static func lines(of headers: HTTPHeaders) -> [String] {
        headers.indices.map { "\(headers[$0].name): \(shown(headers.valueBytes(at: $0)))" }
    }

    /// A value as the collection shows it: UTF-8, or Latin-1 if it is not UTF-8.
    private static func shown(_ value: [UInt8]) -> String {
        String(validating: value, as: UTF8.self) ?? String(decoding: value.map(UInt16.init), as: UTF16.self)
    }

    private static func isSame(_ first: String, as second: String) -> Bool {
        Array(first.utf8).lowered == Array(second.utf8).lowered
    }
}
