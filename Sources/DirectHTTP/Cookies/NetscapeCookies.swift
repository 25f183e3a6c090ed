internal import DirectCore
internal import DirectIO

/// The cookie file format of Netscape with curl's extensions: seven fields separated by tabs.
///
///     #HttpOnly_.example.com  TRUE  /  TRUE  1800000000  name  value
///
/// The fields are the host, whether the cookie covers subdomains, the path, whether it is for https only, the
/// expiry in seconds since 1970 (0 for none), the name and the value.
enum NetscapeCookies {
    /// Returns the content of a file with these cookies. It leaves out cookies that the format cannot store.
    static func encode(_ cookies: [Cookie]) -> [UInt8] {
        var text = Array("# Netscape HTTP Cookie File\n\n".utf8)
        for cookie in cookies where !cookie.nameBytes.contains(tab) && !cookie.pathBytes.contains(tab) {
            if cookie.isHTTPOnly { text += httpOnly }
            text += "\(cookie.coversSubdomains ? "." : "")\(cookie.host)\t".utf8
            text += "\(cookie.coversSubdomains ? "TRUE" : "FALSE")\t".utf8
            text += cookie.pathBytes
            text += "\t\(cookie.isSecure ? "TRUE" : "FALSE")\t\(cookie.expiry?.seconds ?? 0)\t".utf8
            text += cookie.nameBytes + [tab] + cookie.valueBytes + [UInt8(ascii: "\n")]
        }
        return text
    }

    /// Parses one line. Returns `nil` for a comment.
    static func decode(line: ArraySlice<UInt8>) throws(LineError) -> CookieEntry? {
        let isHTTPOnly = line.starts(with: httpOnly)
        guard isHTTPOnly || line.first != UInt8(ascii: "#") else { return nil }
        let text = isHTTPOnly ? line.dropFirst(httpOnly.count) : line
        var fields = text.split(separator: tab, maxSplits: 6, omittingEmptySubsequences: false)
        // A trailing tab before an empty value may be missing.
        if fields.count == 6 { fields.append([]) }
        guard fields.count == 7 else { throw LineError("there are \(fields.count) fields, not 7") }
        var content = CookieContent(name: Array(fields[5]), value: Array(fields[6]))
        content.path = .given(Array(fields[2]))
        content.isSecure = try flag(fields[3])
        content.isHTTPOnly = isHTTPOnly
        content.expiry = try expiry(fields[4])
        return CookieEntry(content: content, host: fields[0], coversSubdomains: try flag(fields[1]))
    }

    private static func flag(_ field: ArraySlice<UInt8>) throws(LineError) -> Bool {
        if field.equalsIgnoringCase("true") { return true }
        guard field.equalsIgnoringCase("false") else { throw LineError("a field is neither TRUE nor FALSE") }
        return false
    }

    private static func expiry(_ field: ArraySlice<UInt8>) throws(LineError) -> UnixTime? {
        guard let seconds = Int64(String(decoding: field, as: UTF8.self)) else {
            throw LineError("the expiry is not a number")
        }
        return seconds == 0 ? nil : UnixTime(seconds: seconds)
    }

    private static let tab = UInt8(ascii: "\t")
    private static let httpOnly = Array("#HttpOnly_".utf8)
}
