internal import DirectCore
public import DirectHTTP1

/// A challenge of a server or proxy: an authentication scheme with its parameters (RFC 9110, section 11.6.1).
public struct Challenge: Hashable, Sendable {
    /// The scheme in lower case: `basic`, `bearer`, `digest`.
    public let scheme: String
    /// The parameters by name, with names in lower case. A value that is not UTF-8 is decoded as Latin-1.
    public var parameters: [String: String] { values.mapValues { String(fieldText: $0) } }
    /// The values of the parameters as they were received: an answer repeats some of them.
    private(set) var values: [String: [UInt8]]
    /// The `token68` value that some schemes send in place of parameters (RFC 9110, section 11.2).
    public let token: String?

    /// The `realm` parameter, if there is one.
    public var realm: String? { values["realm"].map { String(fieldText: $0) } }

    /// Returns all challenges of a response, in order.
    ///
    /// A parameter that is no token and no quoted string, such as `realm=My Device`, is left out, the rest is
    /// not. A quoted string without an end takes the rest of its field with it.
    ///
    /// - Parameter headers: The fields of the response.
    /// - Parameter proxy: Whether to read `Proxy-Authenticate` in place of `WWW-Authenticate`.
    public static func all(in headers: HTTPHeaders, proxy: Bool = false) -> [Challenge] {
        let name: StaticString = proxy ? "proxy-authenticate" : "www-authenticate"
        var challenges: [Challenge] = []
        var next = headers.index(of: name)
        while let index = next {
            challenges += all(of: headers.valueBytes(at: index))
            next = headers.index(of: name, from: index + 1)
        }
        return challenges
    }

    /// Returns all challenges in the value of one field.
    static func all(of field: [UInt8]) -> [Challenge] {
        var challenges: [Challenge] = []
        // A comma separates both challenges and their parameters, and either list may have empty elements.
        var list = FieldScanner(field)
        while var element = list.element() {
            if element.isAtParameter {
                if let last = challenges.indices.last { challenges[last].addParameter(&element) }
            } else if let challenge = Challenge(&element) {
                challenges.append(challenge)
            }
        }
        return challenges
    }

    /// Reads an element that begins with a scheme; `nil` if it does not.
    private init?(_ element: inout FieldScanner) {
        guard let scheme = element.token() else { return nil }
        self.scheme = scheme.lowercased()
        values = [:]
        guard element.skipBlanks() else {
            token = nil
            return
        }
        token = element.rest.isToken68 ? String(decoding: element.rest, as: UTF8.self) : nil
        if token == nil { addParameter(&element) }
    }

    /// Reads a parameter. Of a repeated name, which is an error, the first value counts.
    private mutating func addParameter(_ element: inout FieldScanner) {
        guard token == nil, let parameter = element.directive(allowsBlanks: true),
            case .text(let value) = parameter.argument, values[parameter.name] == nil
        else { return }
        values[parameter.name] = value
    }
}

extension ArraySlice<UInt8> {
    /// Whether this is a `token68`: Base64 in either alphabet, with equals signs only at its end.
    fileprivate var isToken68: Bool {
        let text = prefix { $0.isLetter || $0.isDigit || "-._~+/".utf8.contains($0) }
        return !text.isEmpty && self[text.endIndex...].allSatisfy { $0 == UInt8(ascii: "=") }
    }
}
