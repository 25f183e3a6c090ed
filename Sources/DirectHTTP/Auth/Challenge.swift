public import DirectHTTP1

/// A challenge of a server or proxy: an authentication scheme with its parameters (RFC 9110, section 11.6.1).
public struct Challenge: Hashable, Sendable {
    /// The scheme in lower case: `basic`, `bearer`, `digest`.
    public let scheme: String
    /// The parameters by name, with names in lower case.
    public let parameters: [String: String]
    /// The `token68` value that some schemes send in place of parameters (RFC 9110, section 11.2).
    public let token: String?

    /// The `realm` parameter, if there is one.
    public var realm: String? { parameters["realm"] }

    /// Returns all challenges of a response, in order.
    ///
    /// Parsing of a field stops at the first syntax error: a comma separates both challenges and their parameters,
    /// so the rest of the field would be ambiguous.
    ///
    /// - Parameter headers: The fields of the response.
    /// - Parameter proxy: Whether to read `Proxy-Authenticate` in place of `WWW-Authenticate`.
    public static func all(in headers: HTTPHeaders, proxy: Bool = false) -> [Challenge] {
        headers.values(for: proxy ? "Proxy-Authenticate" : "WWW-Authenticate").flatMap(all(of:))
    }

    /// Returns all challenges in the value of one field.
    static func all(of field: String) -> [Challenge] {
        var reader = ChallengeReader(Array(field.utf8))
        return reader.challenges()
    }
}

/// Parses the challenges of one field.
private struct ChallengeReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func challenges() -> [Challenge] {
        var found: [Challenge] = []
        skipSeparators()
        while let scheme = token() {
            var parameters: [String: String] = [:]
            var token68: String?
            if skipBlanks() > 0, !isAtSeparator {
                token68 = self.token68()
                if token68 == nil {
                    guard readParameters(into: &parameters) else { return found }
                }
            }
            found.append(Challenge(scheme: scheme.lowercased(), parameters: parameters, token: token68))
            guard position == bytes.count || isAtSeparator else { return found }
            skipSeparators()
        }
        return found
    }

    /// Reads `name=value` pairs up to the next challenge, which is recognised by a token that no equals sign
    /// follows.
    ///
    /// Returns `false` at a syntax error.
    private mutating func readParameters(into parameters: inout [String: String]) -> Bool {
        while true {
            let start = position
            guard let name = token() else { return position == bytes.count }
            skipBlanks()
            guard take(UInt8(ascii: "=")) else {
                position = start
                // The comma just read belongs to the next challenge.
                return !parameters.isEmpty
            }
            skipBlanks()
            guard
                let value = bytes.indices.contains(position) && bytes[position] == UInt8(ascii: "\"")
                    ? quoted() : token()
            else { return false }
            // A repeated name is an error; the first value counts.
            if parameters[name.lowercased()] == nil { parameters[name.lowercased()] = value }
            skipBlanks()
            guard position < bytes.count else { return true }
            guard isAtSeparator else { return false }
            let comma = position
            skipSeparators()
            if position == bytes.count { return true }
            if !isAtParameter {
                position = comma
                return true
            }
        }
    }

    /// Whether the next token is a parameter's name, followed by an equals sign, and not another challenge's
    /// scheme.
    private var isAtParameter: Bool {
        var copy = self
        guard copy.token() != nil else { return false }
        copy.skipBlanks()
        return copy.take(UInt8(ascii: "=")) && copy.position < bytes.count && !copy.isAtSeparator
            && !copy.take(UInt8(ascii: "="))
    }

    /// Reads a `token68`, a Base64 value in place of parameters. It ends the challenge, and has equals signs only
    /// at its end.
    private mutating func token68() -> String? {
        let start = position
        while position < bytes.count, Self.isToken68(bytes[position]) { position += 1 }
        while position < bytes.count, bytes[position] == UInt8(ascii: "=") { position += 1 }
        let end = position
        skipBlanks()
        if end > start, position == bytes.count || isAtSeparator {
            return String(decoding: bytes[start..<end], as: UTF8.self)
        }
        position = start
        return nil
    }

    private mutating func quoted() -> String? {
        position += 1
        var value: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: value, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard position < bytes.count else { return nil }
                value.append(bytes[position])
                position += 1
            default: value.append(byte)
            }
        }
        return nil
    }

    private mutating func token() -> String? {
        let start = position
        while position < bytes.count, Self.isTokenByte(bytes[position]) { position += 1 }
        return position == start ? nil : String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    @discardableResult
    private mutating func skipBlanks() -> Int {
        let start = position
        while position < bytes.count, bytes[position] == 0x20 || bytes[position] == 0x09 { position += 1 }
        return position - start
    }

    private mutating func skipSeparators() {
        repeat { skipBlanks() } while take(UInt8(ascii: ","))
    }

    private var isAtSeparator: Bool { position < bytes.count && bytes[position] == UInt8(ascii: ",") }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }

    private static func isToken68(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || "-._~+/".utf8.contains(byte)
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}
