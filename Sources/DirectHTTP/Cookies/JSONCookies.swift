internal import DirectCore
internal import DirectIO
internal import DirectJSON

/// The JSON file format for cookies: one object per line, so that a damaged line costs only its own cookie.
///
/// The first line identifies the format: with another one no cookie is read. Unknown members are ignored.
/// JSON requires valid UTF-8, and a cookie's name, value and path may have other bytes: then they are written
/// as an array of numbers.
enum JSONCookies {
    /// Returns the content of a file with these cookies.
    static func encode(_ cookies: [Cookie]) -> [UInt8] {
        let head = JSONValue.object(["format": .string(format), "version": .number(version)])
        return ([head] + cookies.map(value)).flatMap { Array("\($0)\n".utf8) }
    }

    /// Parses one line. Returns `nil` for the line that identifies the format.
    ///
    /// - Throws: The reason why the line is skipped.
    static func decode(line: ArraySlice<UInt8>) throws(LineError) -> CookieEntry? {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONReader.read(Array(line))
        } catch {
            throw LineError(error.what)
        }
        guard case .object(let object) = value.content else { throw LineError("not an object") }
        let members = Members(object)
        if let name = try members.bytes("format") {
            guard name == Array(format.utf8), try members.number("version") == Int64(version) else {
                throw LineError("unknown format or version", isOfHeading: true)
            }
            return nil
        }
        guard let name = try members.bytes("name"), let value = try members.bytes("value"),
            let host = try members.bytes("host")
        else { throw LineError("name, value or host is missing") }
        var content = CookieContent(name: name, value: value)
        if let path = try members.bytes("path") { content.path = .given(path) }
        content.expiry = try members.number("expiry").map { UnixTime(seconds: $0) }
        content.isSecure = try members.bool("secure")
        content.isHTTPOnly = try members.bool("httpOnly")
        content.sameSite = try members.bytes("sameSite").flatMap {
            Cookie.SameSite(rawValue: String(cookieText: $0[...]))
        }
        return CookieEntry(
            content: content,
            host: host[...],
            coversSubdomains: try members.bool("subdomains")
        )
    }

    private static func value(_ cookie: Cookie) -> JSONValue {
        .object([
            "name": bytes(cookie.nameBytes),
            "value": bytes(cookie.valueBytes),
            "host": .string(cookie.host.description),
            "subdomains": .bool(cookie.coversSubdomains),
            "path": bytes(cookie.pathBytes[...]),
            "expiry": cookie.expiry.map { .number(Int($0.seconds)) } ?? .null,
            "secure": .bool(cookie.isSecure),
            "httpOnly": .bool(cookie.isHTTPOnly),
            "sameSite": cookie.sameSite.map { .string($0.rawValue) } ?? .null,
        ])
    }

    private static func bytes(_ bytes: ArraySlice<UInt8>) -> JSONValue {
        if let text = String(validating: bytes, as: UTF8.self) { return .string(text) }
        return .array(bytes.map { .number(Int($0)) })
    }

    private static let format = "direct-http cookies"
    private static let version = 1
}

/// The members of a JSON object, read by name and checked for their types.
private struct Members {
    private let members: [JSONValue.Member]

    init(_ members: [JSONValue.Member]) {
        self.members = members
    }

    /// The bytes of a string, or of an array of bytes; `nil` if the member is missing or null.
    func bytes(_ name: String) throws(LineError) -> [UInt8]? {
        switch content(name) {
        case nil: return nil
        case .string(let text): return Array(text.utf8)
        case .array(let elements):
            let bytes = elements.compactMap { element -> UInt8? in
                if case .number(let text) = element.content { UInt8(text) } else { nil }
            }
            guard bytes.count == elements.count else {
                throw LineError("\(name) is an array whose elements are not all bytes")
            }
            return bytes
        default: throw LineError("\(name) is not a string")
        }
    }

    /// A whole number; `nil` if the member is missing or null.
    func number(_ name: String) throws(LineError) -> Int64? {
        guard let content = content(name) else { return nil }
        guard case .number(let text) = content, let number = Int64(text) else {
            throw LineError("\(name) is not a whole number")
        }
        return number
    }

    /// A Boolean value; `false` if the member is missing or null.
    func bool(_ name: String) throws(LineError) -> Bool {
        guard let content = content(name) else { return false }
        guard case .bool(let value) = content else { throw LineError("\(name) is neither true nor false") }
        return value
    }

    /// The content of a member; `nil` if the member is missing or null.
    private func content(_ name: String) -> JSONValue.Content? {
        let content = members.first { $0.name == name }?.value.content
        return content == .null ? nil : content
    }
}
