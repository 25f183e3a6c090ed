internal import DirectCore
public import DirectHTTP
public import Foundation

extension HTTPURL {
    /// Converts a URL by parsing its text with this package's strict parser. The parts that Foundation sees
    /// in it do not count.
    ///
    /// - Throws: The reason why the parser refuses it.
    public init(_ url: URL) throws(HTTPURLError) {
        try self.init(url.absoluteString)
    }
}

extension URL {
    /// Converts a URL; `nil` in the rare case that Foundation cannot parse it.
    public init?(_ url: HTTPURL) {
        self.init(escaped: url.text)
    }

    /// Reads a text with the escapes that it has. If Foundation does not accept one of its characters, it
    /// escapes all of the text anew, also each `%`: so what no URL may have (RFC 3986, appendix A) is escaped
    /// before that.
    init?(escaped text: String) {
        var (rest, bytes, slashes, hasFragment) = (text.utf8[...], [UInt8](), 0, false)
        while let byte = rest.popFirst() {
            let isAllowed: Bool
            switch byte {
            case UInt8(ascii: "%"): isAllowed = rest.prefix(2).count { Hex.value(of: $0) != nil } == 2
            // Around an address of IPv6 only.
            case UInt8(ascii: "["), UInt8(ascii: "]"): isAllowed = slashes < 3
            case UInt8(ascii: "#"): (isAllowed, slashes, hasFragment) = (!hasFragment, 3, true)
            default: isAllowed = byte.isLetter || byte.isDigit || "-._~:/?@!$&'()*+,;=".utf8.contains(byte)
            }
            if byte == UInt8(ascii: "/") { slashes += 1 }
            if byte == UInt8(ascii: "?") { slashes = 3 }
            if isAllowed { bytes.append(byte) } else { bytes += "%\(Hex.encode([byte]).uppercased())".utf8 }
        }
        self.init(string: String(decoding: bytes, as: UTF8.self))
    }
}

extension Request {
    /// Creates a request to a URL of Foundation's. If it is no http or https URL, sending the request reports
    /// that.
    public init(_ method: HTTPMethod, _ url: URL, headers: HTTPHeaders = [:], body: RequestBody = .none) {
        self.init(method, url.absoluteString, headers: headers, body: body)
    }
}
