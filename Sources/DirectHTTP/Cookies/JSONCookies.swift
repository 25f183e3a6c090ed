internal import DirectCore
internal import DirectIO
internal import DirectJSON

/// Cookies as JSON, one object per line, so that losing a part of the file does not lose the other cookies.
///
/// The first line identifies the format. Unknown members are ignored. Text that is not valid UTF-8 is written as a
/// list of its bytes.
enum JSONCookies {
    static func text(_ cookies: [Cookie]) -> [UInt8] {
        let head = JSONValue.object(["format": .text(format), "version": .number(version)])
        return ([head] + cookies.map(value)).flatMap { Array("\($0)\n".utf8) }
    }

    /// Parses one line; `nil` for the line that identifies the format.
    static func entry(_ line: ArraySlice<UInt8>) throws(LineError) -> CookieEntry? {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONReader.read(Array(line))
        } catch {
            throw LineError(error.what)
        }
        guard case .object(let list) = value.content else { throw LineError("not an object") }
        let members = Members(list)
        if let name = try members.bytes("format") {
            guard name == Array(format.utf8), try members.number("version") == Int64(version) else {
                throw LineError("unknown format or version")
            }
            return nil
        }
        guard let name = try members.bytes("name"), let value = try members.bytes("value"),
            let host = try members.bytes("host")
        else { throw LineError("name, value or host is missing") }
        var content = CookieContent(name: name, value: value)
        if let path = try members.bytes("path") { content.path = .given(path) }
        content.expiry = try members.number("expiry").map { UnixTime(seconds: $0) }
        content.isSecure = try members.flag("secure")
        content.isHTTPOnly = try members.flag("httpOnly")
        content.sameSite = try members.bytes("sameSite").flatMap {
            Cookie.SameSite(rawValue: String(cookieText: $0[...]))
        }
        return CookieEntry(
            content: content,
            host: host[...],
            coversSubdomains: try members.flag("subdomains")
        )
    }

    private static func value(_ cookie: Cookie) -> JSONValue {
        .object([
            "name": text(cookie.nameBytes),
            "value": text(cookie.valueBytes),
            "host": .text(cookie.host.description),
            "subdomains": .flag(cookie.coversSubdomains),
            "path": text(cookie.pathBytes[...]),
            "expiry": cookie.expiry.map { .number(Int($0.seconds)) } ?? .null,
            "secure": .flag(cookie.isSecure),
            "httpOnly": .flag(cookie.isHTTPOnly),
            "sameSite": cookie.sameSite.map { .text($0.rawValue) } ?? .null,
        ])
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> JSONValue {
        if let text = String(validating: bytes, as: UTF8.self) { return .text(text) }
        return .list(bytes.map { .number(Int($0)) })
    }

    private static let format = "direct-http cookies"
    private static let version = 1
}

/// Access to the members of an object, with checks of their types.
private struct Members {
    private let members: [JSONValue.Member]

    init(_ members: [JSONValue.Member]) {
        self.members = members
    }

    func bytes(_ name: String) throws(LineError) -> [UInt8]? {
        switch content(name) {
        case nil: return nil
        case .text(let text): return Array(text.utf8)
        case .list(let elements):
            let bytes = elements.compactMap { element -> UInt8? in
                if case .number(let text) = element.content { UInt8(text) } else { nil }
            }
            guard bytes.count == elements.count else {
                throw LineError("\(name) is a list whose elements are not all bytes")
            }
            return bytes
        default: throw LineError("\(name) is not a string")
        }
    }

    func number(_ name: String) throws(LineError) -> Int64? {
        guard let content = content(name) else { return nil }
        guard case .number(let text) = content, let number = Int64(text) else {
            throw LineError("\(name) is not a whole number")
        }
        return number
    }

    /// Returns `false` if the member is missing.
    func flag(_ name: String) throws(LineError) -> Bool {
        guard let content = content(name) else { return false }
        guard case .flag(let flag) = content else { throw LineError("\(name) is neither true nor false") }
        return flag
    }

    /// The content of a member; `nil` if the member is missing or null.
    private func content(_ name: String) -> JSONValue.Content? {
        let content = members.first { $0.name == name }?.value.content
        return content == .null ? nil : content
    }
}
