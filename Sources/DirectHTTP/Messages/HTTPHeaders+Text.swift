internal import DirectCore
internal import DirectHTTP1

extension HTTPHeaders {
    /// Returns a body with these fields as text: as its byte order mark says, or else its charset.
    func text(of body: [UInt8], fallback: Charset) throws(HTTPError) -> String {
        if let marked = Charset.decodeMarked(body) { return marked }
        return try (charset() ?? fallback).decode(body)
    }

    /// Returns the encoding that the last `Content-Type` declares; `nil` if it declares none.
    func charset() throws(HTTPError) -> Charset? {
        guard index(of: "content-type") != nil, let type = values(for: "Content-Type").last else {
            return nil
        }
        var parameters = FieldScanner(type.utf8.drop { $0 != UInt8(ascii: ";") })
        while parameters.take(UInt8(ascii: ";")) {
            let (name, value) = parameters.mediaTypeParameter()
            // The standard ignores a parameter without a value.
            guard name == "charset", !value.isEmpty else { continue }
            if let charset = Charset(label: value) { return charset }
            let label = String(decoding: value.utf8.prefix(64), as: UTF8.self)
            throw HTTPError(.body, .unsupportedCharset(label))
        }
        return nil
    }

    /// Whether the last `Content-Type` is this one, in lower case, whatever its parameters.
    package func hasContentType(_ type: String) -> Bool {
        mediaTypes.last == type
    }

    /// Whether the content may be of this type, in lower case: one of several fields has it, or none that can
    /// be read.
    package func mayHaveContentType(_ type: String) -> Bool {
        mediaTypes.contains { $0 == type || $0 == nil }
    }

    /// The types in the `Content-Type` fields, in lower case and without parameters; `nil` for what is none.
    private var mediaTypes: [String?] {
        var types: [String?] = []
        var next = index(of: "content-type")
        while let index = next {
            // By bytes: a mark that combines with the semicolon would hide it.
            var value = FieldScanner(valueBytes(at: index))
            value.skipBlanks()
            let type = value.read { !";\t ".utf8.contains($0) }
            let isType =
                type.split(separator: "/", omittingEmptySubsequences: false)
                .map { HTTPMethod(validating: String($0)) != nil } == [true, true]
            types.append(isType ? type.lowercased() : nil)
            next = self.index(of: "content-type", from: index + 1)
        }
        return types
    }
}

extension FieldScanner {
    /// Reads a parameter of a media type, up to the next semicolon (RFC 9110, section 8.3.1; lenient as the
    /// MIME Sniffing Standard). The name is in lower case.
    fileprivate mutating func mediaTypeParameter() -> (name: String, value: String) {
        skipBlanks()
        let name = read { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "=") }
        guard take(UInt8(ascii: "=")) else { return (name.lowercased(), "") }
        let quoted = rest.first == UInt8(ascii: "\"") ? quotedString().text : nil
        let unquoted = read { $0 != UInt8(ascii: ";") }
        if let quoted { return (name.lowercased(), String(decoding: quoted, as: UTF8.self)) }
        // Blanks alone are no value.
        return (name.lowercased(), unquoted.utf8.allSatisfy(\.isBlank) ? "" : unquoted)
    }
}
