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
        let headers = response.headers.delivered(with: response.body.decoding)
        self.init(status: response.status, version: response.version, headers: headers, url: url)
    }

    /// Converts the head of a buffered response, as the initialiser for a `Response` does.
    public convenience init?(_ response: HTTPClient.BufferedResponse) {
        guard let url = URL(response.url) else { return nil }
        let headers = response.headers.delivered(with: response.decoding)
        self.init(status: response.status, version: response.version, headers: headers, url: url)
    }

    /// Builds a head from its parts.
    convenience init?(status: HTTPStatus, version: HTTPVersion, headers: HTTPHeaders, url: URL) {
        self.init(
            url: url,
            statusCode: Int(status.code),
            httpVersion: "\(version)",
            headerFields: headers.folded
        )
    }
}

extension Response {
    /// The URL of another scheme than http and https to which the response redirects; `nil` if it does not.
    ///
    /// The client delivers such a redirect if its policy says so: the session's delegate decides about it.
    var otherScheme: URL? {
        let redirects: Set<HTTPStatus> = [
            .movedPermanently, .found, .seeOther, .temporaryRedirect, .permanentRedirect,
        ]
        guard redirects.contains(status), let location = headers["Location"] else { return nil }
        do throws(HTTPURLError) {
            _ = try url.resolving(location)
            return nil
        } catch {
            return RedirectError.location(error).namesOtherScheme ? URL(string: location) : nil
        }
    }
}

extension HTTPHeaders {
    /// Returns the fields as they fit the body that is handed out: without the length of one that was
    /// decoded.
    func delivered(with decoding: BodyDecoding) -> HTTPHeaders {
        guard case .decoded = decoding else { return self }
        var fields = self
        fields.remove("Content-Length")
        return fields
    }

    /// One value for each name, in the spelling of the first field of that name.
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
    /// Whether both are the same without regard to case.
    fileprivate func hasSameLetters(as other: String) -> Bool {
        utf8.count == other.utf8.count && caseInsensitiveCompare(other) == .orderedSame
    }
}
