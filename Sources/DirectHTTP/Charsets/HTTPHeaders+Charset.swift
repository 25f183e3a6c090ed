internal import DirectCore
internal import DirectHTTP1

extension HTTPHeaders {
    /// Returns the encoding that the last `Content-Type` declares; `nil` if it declares none.
    func charset() throws(CharsetError) -> Charset? {
        guard index(of: "content-type") != nil, let type = values(for: "Content-Type").last else {
            return nil
        }
        var parameters = MediaTypeParameters(type)
        while let (name, value) = parameters.next() {
            if name.lowercased() == "charset" { return try Charset(label: value) }
        }
        return nil
    }

    /// Whether the last `Content-Type` is this one, in lower case, whatever its parameters.
    package func hasContentType(_ type: String) -> Bool {
        let value = values(for: "Content-Type").last ?? ""
        let essence = value.drop { $0 == " " || $0 == "\t" }.prefix { !";\t ".contains($0) }
        return essence.lowercased() == type
    }
}

/// The parameters of a media type, one after the other (RFC 9110, section 8.3.1; lenient as the MIME Sniffing Standard).
private struct MediaTypeParameters {
    private var rest: Substring.UTF8View

    init(_ type: String) {
        rest = type[...].utf8.drop { $0 != UInt8(ascii: ";") }
    }

    mutating func next() -> (name: String, value: String)? {
        guard rest.popFirst() != nil else { return nil }
        rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
        let name = rest.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "=") }
        rest = rest[name.endIndex...]
        guard rest.first == UInt8(ascii: "=") else { return (String(Substring(name)), "") }
        rest.removeFirst()
        let value = rest.first == UInt8(ascii: "\"") ? quotedString() : token()
        rest = rest.drop { $0 != UInt8(ascii: ";") }
        return (String(Substring(name)), value)
    }

    private mutating func token() -> String {
        let token = rest.prefix { $0 != UInt8(ascii: ";") }
        rest = rest[token.endIndex...]
        return String(Substring(token))
    }

    private mutating func quotedString() -> String {
        var bytes: [UInt8] = []
        rest.removeFirst()
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            bytes.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
