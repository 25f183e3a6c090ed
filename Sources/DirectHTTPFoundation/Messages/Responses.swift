public import DirectHTTP

#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension HTTPURLResponse {
    /// Converts the head of a response.
    ///
    /// Foundation keeps one value for each name: several fields of one name are joined with commas in their
    /// order (RFC 9110, section 5.3). That spoils `Set-Cookie`: read cookies from the `Response` itself, or
    /// let `configuration.cookies` or `configuration.useCookies(of:)` handle them.
    ///
    /// Of a body that was decoded the length is unknown: `Content-Length` is left out, so
    /// `expectedContentLength` is -1.
    ///
    /// The URL is that of the response, after redirects. The result is `nil` if Foundation cannot parse it.
    public convenience init?(_ response: HTTPClient.Response) {
        guard let url = URL(response.url) else { return nil }
        self.init(response, headers: response.headers, url: url)
    }

    /// Converts the head of a buffered response, as the initialiser for a `Response` does.
    public convenience init?(_ response: HTTPClient.BufferedResponse) {
        self.init(response.head)
    }

    /// Builds the head of a response with these fields, as they fit the body that is handed out: without the
    /// length of one that was decoded.
    convenience init?(_ response: Response, headers: HTTPHeaders, url: URL) {
        var headers = headers
        if case .decoded = response.body.decoding { headers.remove("Content-Length") }
        self.init(
            url: url,
            statusCode: Int(response.status.code),
            httpVersion: "\(response.version)",
            headerFields: headers.folded
        )
    }
}

extension HTTPHeaders {
    /// One value for each name, in the spelling of the first field of that name.
    var folded: [String: String] {
        var spellings = [String: String](minimumCapacity: count)
        return reduce(into: [String: String](minimumCapacity: count)) { values, field in
            let letters = field.name.lowercased()
            let name = spellings[letters] ?? field.name
            spellings[letters] = name
            values[name] = values[name].map { "\($0), \(field.value)" } ?? field.value
        }
    }
}
