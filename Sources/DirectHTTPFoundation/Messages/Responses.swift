public import DirectHTTP

#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension HTTPURLResponse {
    /// The head of a response, as Foundation's users know it.
    ///
    /// Foundation keeps one value for a name: several fields of one name are joined with commas in their order
    /// (RFC 9110, section 5.3). That spoils `Set-Cookie`: read cookies from the `Response` itself, or leave them to
    /// `settings.cookies` or `settings.useCookies(of:)`.
    ///
    /// Its URL is that of the response, after redirects; nothing if Foundation cannot read that.
    public convenience init?(_ response: Response) {
        guard let url = URL(response.url) else { return nil }
        self.init(status: response.status, version: response.version, headers: response.headers, url: url)
    }

    /// The head of a response with all of its body, as Foundation's users know it.
    public convenience init?(_ response: FullResponse) {
        guard let url = URL(response.url) else { return nil }
        self.init(status: response.status, version: response.version, headers: response.headers, url: url)
    }

    convenience init?(status: Status, version: HTTPVersion, headers: Headers, url: URL) {
        self.init(
            url: url,
            statusCode: Int(status.code),
            httpVersion: "\(version)",
            headerFields: headers.folded
        )
    }
}

extension Headers {
    /// One value for each name, in the spelling of the first field that has it.
    var folded: [String: String] {
        var values = [String: String](minimumCapacity: count)
        for field in self {
            if let earlier = values[field.name] {
                values[field.name] = earlier + ", " + field.value
            } else if let spelling = values.keys.first(where: { $0.hasSameLetters(as: field.name) }) {
                values[spelling, default: ""] += ", " + field.value
            } else {
                values[field.name] = field.value
            }
        }
        return values
    }
}

extension String {
    fileprivate func hasSameLetters(as other: String) -> Bool {
        utf8.count == other.utf8.count && caseInsensitiveCompare(other) == .orderedSame
    }
}
