internal import DirectCore
internal import DirectHTTP1

/// The fields of a request that may select a response (RFC 9111, section 4.1).
struct VaryFields: Sendable {
    let headers: HTTPHeaders
    /// Fields that the client adds if the request has none of that name.
    let defaults: HTTPHeaders

    /// The value of a field, normalised so that equivalent values compare equal; `nil` if there is no such field.
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

    /// Whether the request carries `Authorization`, its own or one that the client adds.
    var isAuthorized: Bool {
        headers.index(of: "authorization") != nil || defaults.index(of: "authorization") != nil
    }

    /// Whether the request carries an `Authorization` that is for itself alone: the answer to a challenge by Digest with
    /// a count (RFC 7616, section 3.4).
    fileprivate var isAuthorizedOnce: Bool {
        let values = headers.values(for: "authorization") + defaults.values(for: "authorization")
        return values.contains { DigestUse($0)?.count != nil }
    }

    /// Splits a list at its commas, without surrounding spaces and tabs.
    private static func elements(_ value: String) -> [String] {
        var elements: [String] = []
        var current: [UInt8] = []
        var isQuoted = false
        for byte in value.utf8 {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if byte == UInt8(ascii: ","), !isQuoted {
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

    /// Sorts preferences by descending weight. Those of equal weight keep their order, since servers may choose the
    /// first one.
    private static func byPreference(_ elements: [String]) -> [String] {
        let tidy = elements.map { String($0.filter { $0 != " " && $0 != "\t" }) }.filter { !$0.isEmpty }
        let weighted = tidy.enumerated().map {
            (offset: $0.offset, weight: weight($0.element), text: $0.element)
        }
        return weighted.sorted { ($1.weight, $0.offset) < ($0.weight, $1.offset) }.map(\.text)
    }

    /// The weight in thousandths, from `;q=0.5`. It is 1000 if the parameter is missing or malformed, so that the
    /// position in the list decides.
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

    init(names: [String]) {
        self.names = names
    }

    /// Takes the names from `Vary`; `nil` for `Vary: *`, which no later request is certain to match, and for requests
    /// whose `Authorization` no later one can have.
    ///
    /// `Authorization` is added if the request has it, whatever `Vary` says: one client may send requests for
    /// several users, and a response to one of them must not be given to another.
    init?(_ response: HTTPHeaders, to fields: VaryFields) {
        var names: Set<String> = []
        for value in response.values(for: "Vary") {
            for name in value.lowercased().split(separator: ",") {
                let name = name.filter { $0 != " " && $0 != "\t" }
                if name == "*" { return nil }
                if !name.isEmpty { names.insert(name) }
            }
        }
        if fields.isAuthorized {
            guard !fields.isAuthorizedOnce else { return nil }
            names.insert(Self.authorization)
        }
        self.names = names.sorted()
    }

    /// Whether responses that these names select may answer the request at all: one with `Authorization` needs
    /// names that include it.
    func suit(_ fields: VaryFields) -> Bool {
        !fields.isAuthorized || names.contains(Self.authorization)
    }

    private static let authorization = "authorization"
}
