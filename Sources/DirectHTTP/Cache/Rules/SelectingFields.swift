internal import DirectHTTP1

/// The fields of a request that a response may depend on (RFC 9111, section 4.1).
struct SelectingFields: Sendable {
    let headers: Headers
    /// What the client adds where the request has no such field.
    let defaults: Headers

    /// A value in a form in which equal meanings look equal; nothing if there is no such field.
    subscript(name: String) -> String? {
        var values = headers.values(for: name)
        if values.isEmpty { values = defaults.values(for: name) }
        guard !values.isEmpty else { return nil }
        let elements = values.flatMap(Self.elements)
        switch name {
        case "accept", "accept-charset", "accept-encoding", "accept-language":
            return Self.byPreference(elements.map { $0.lowercased() }).joined(separator: ",")
        default: return elements.joined(separator: ",")
        }
    }

    /// Whether the request says who asks, be it by a field of the client's own.
    var isAuthorized: Bool {
        headers.index(of: "authorization") != nil || defaults.index(of: "authorization") != nil
    }

    /// The list's elements, blanks around them left out.
    private static func elements(_ value: String) -> [String] {
        var elements: [String] = []
        var current: [UInt8] = []
        var isQuoted = false
        for byte in value.utf8 {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if byte == .comma, !isQuoted {
                elements.append(trimmed(current))
                current = []
            } else {
                current.append(byte)
            }
        }
        return elements + [trimmed(current)]
    }

    private static func trimmed(_ bytes: [UInt8]) -> String {
        var rest = bytes[...]
        while rest.first?.isBlank == true { rest.removeFirst() }
        while rest.last?.isBlank == true { rest.removeLast() }
        return String(decoding: rest, as: UTF8.self)
    }

    /// Preferences in falling order of their weights; those of equal weight stay as they are, for servers may
    /// take the first one.
    private static func byPreference(_ elements: [String]) -> [String] {
        let tidy = elements.map { String($0.filter { $0 != " " && $0 != "\t" }) }.filter { !$0.isEmpty }
        let weighted = tidy.enumerated().map {
            (offset: $0.offset, weight: weight($0.element), text: $0.element)
        }
        return weighted.sorted { ($1.weight, $0.offset) < ($0.weight, $1.offset) }.map(\.text)
    }

    /// In thousandths, as `;q=0.5` says; 1000 where there is no weight, or one that breaks the grammar: then the place
    /// in the list counts.
    private static func weight(_ element: String) -> Int {
        guard let parameter = element.split(separator: ";").dropFirst().last(where: { $0.hasPrefix("q=") })
        else { return 1000 }
        return thousandths(parameter.utf8.dropFirst(2)) ?? 1000
    }

    /// A `qvalue` (RFC 9110, section 12.4.2): from 0 to 1, with at most three digits behind the point.
    private static func thousandths(_ text: Substring.UTF8View) -> Int? {
        guard let whole = text.first, text.count <= 5,
            text.dropFirst().first ?? UInt8(ascii: ".") == UInt8(ascii: ".")
        else { return nil }
        var value = 0
        for place in 0..<4 {
            let digit = place == 0 ? whole : text.dropFirst(place + 1).first ?? UInt8(ascii: "0")
            guard digit.isDigit else { return nil }
            value = value * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return value <= 1000 ? value : nil
    }
}

/// The names of the fields that a response was selected by, in lower case and in order.
struct SelectingNames: Hashable, Sendable {
    let names: [String]

    init(names: [String]) {
        self.names = names
    }

    /// Nothing if no later request is sure to get the same (`Vary: *`).
    ///
    /// Who asks counts always: one client may ask for several people, and what was said to one of them is
    /// not for the others, whatever the server says it depends on.
    init?(_ response: Headers, to fields: SelectingFields) {
        var names: Set<String> = []
        for value in response.values(for: "Vary") {
            for name in value.lowercased().split(separator: ",") {
                let name = name.filter { $0 != " " && $0 != "\t" }
                if name == "*" { return nil }
                if !name.isEmpty { names.insert(name) }
            }
        }
        if fields.isAuthorized { names.insert(Self.authorization) }
        self.names = names.sorted()
    }

    /// Whether responses selected by these may be for that request at all.
    func suit(_ fields: SelectingFields) -> Bool {
        !fields.isAuthorized || names.contains(Self.authorization)
    }

    private static let authorization = "authorization"
}
