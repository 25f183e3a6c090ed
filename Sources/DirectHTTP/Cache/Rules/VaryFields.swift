internal import DirectCore
internal import DirectHTTP1

/// The fields of a request that may select a response (RFC 9111, section 4.1).
struct VaryFields: Sendable {
    let headers: HTTPHeaders
    /// Fields that the client adds if the request has none of that name.
    let defaults: HTTPHeaders
    let asker: Asker

    init(headers: HTTPHeaders, defaults: HTTPHeaders, asker: Asker = .anonymous) {
        self.headers = headers
        self.defaults = defaults
        self.asker = asker
    }

    /// The value of a field, normalised so that equivalent values compare equal; `nil` if there is no such
    /// field.
    subscript(name: String) -> String? {
        var values = headers.values(for: name)
        if values.isEmpty { values = defaults.values(for: name) }
        guard !values.isEmpty else { return nil }
        // Credentials are the same only if each of their bytes is.
        if name == "authorization" || name == "cookie" { return values.joined(separator: "\n") }
        let elements = values.flatMap(Self.elements)
        switch name {
        case "accept", "accept-charset", "accept-encoding", "accept-language":
            return Self.byPreference(elements.map { $0.lowercased() }).joined(separator: ",")
        default: return elements.joined(separator: ",")
        }
    }

    /// Whether the request carries an `Authorization` that is for itself alone: the answer to a challenge by
    /// Digest with a count (RFC 7616, section 3.4).
    fileprivate var isAuthorizedOnce: Bool {
        let values = headers.values(for: "authorization") + defaults.values(for: "authorization")
        return values.contains { value in
            // Credentials have the syntax of challenges (RFC 9110, section 11.4).
            let said = Challenge.all(of: Array(value.utf8)).first
            return said?.scheme == "digest" && said?.values["nc"] != nil
        }
    }

    /// The elements of a list, without surrounding spaces and tabs.
    private static func elements(_ value: String) -> [String] {
        var list = FieldScanner(value.utf8)
        var elements: [String] = []
        while let element = list.element() { elements.append(String(decoding: element.rest, as: UTF8.self)) }
        return elements
    }

    /// Sorts preferences by descending weight. Those of equal weight keep their order, since servers may
    /// choose the first one.
    private static func byPreference(_ elements: [String]) -> [String] {
        let tidy = elements.map { String($0.filter { $0 != " " && $0 != "\t" }) }.filter { !$0.isEmpty }
        let weighted = tidy.enumerated().map {
            (offset: $0.offset, weight: weight($0.element), text: $0.element)
        }
        return weighted.sorted { ($1.weight, $0.offset) < ($0.weight, $1.offset) }.map(\.text)
    }

    /// The weight in thousandths, from `;q=0.5`. It is 1000 if the parameter is missing or malformed, so that
    /// the position in the list decides.
    private static func weight(_ element: String) -> Int {
        guard let parameter = element.split(separator: ";").dropFirst().last(where: { $0.hasPrefix("q=") })
        else { return 1000 }
        return thousandths(parameter.utf8.dropFirst(2)) ?? 1000
    }

    /// Parses a `qvalue` (RFC 9110, section 12.4.2): 0 to 1, with at most three decimal places.
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

/// The names of the request fields that select a response, in lower case and sorted.
struct VaryNames: Hashable, Sendable {
    let names: [String]

    /// The names that are those of fields.
    var fields: [String] { names.filter { $0 != Self.asker } }

    init(names: [String]) {
        self.names = names
    }

    /// Takes the names from `Vary`; `nil` for `Vary: *`, which no later request is certain to match, and for
    /// requests whose `Authorization` no later one can have.
    ///
    /// Added is the asker, unless the request shows nothing of its sender. So is `Accept-Encoding` if the
    /// content is coded: a server that codes by it and forgets `Vary` has chosen the response by that field
    /// nevertheless, and this client sends different values of it (none with `Range`).
    init?(_ response: HTTPHeaders, to fields: VaryFields) {
        var names: Set<String> = []
        for name in response.elements(of: "vary") {
            if name == "*" { return nil }
            names.insert(name.lowercased())
        }
        guard !fields.isAuthorizedOnce else { return nil }
        if response.hasCodedContent { names.insert("accept-encoding") }
        if !fields.asker.isAnonymous { names.insert(Self.asker) }
        self.names = names.sorted()
    }

    /// Whether responses that these names select may answer the request at all: they are for an asker if and
    /// only if the request shows one.
    func suit(_ fields: VaryFields) -> Bool {
        names.contains(Self.asker) != fields.asker.isAnonymous
    }

    /// In place of a field's name: the asker. No field can have this name.
    static let asker = ":asker"
}
