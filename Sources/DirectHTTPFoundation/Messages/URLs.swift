public import DirectHTTP
public import Foundation

extension HTTPURL {
    /// The same URL, read anew by our own strict parser: what Foundation thinks its parts are does not count.
    public init(_ url: URL) throws(URLFault) {
        try self.init(url.absoluteString)
    }
}

extension URL {
    /// The same URL; nothing in the rare case that Foundation cannot read it.
    public init?(_ url: HTTPURL) {
        self.init(string: url.text)
    }
}

extension Request {
    /// A request to a URL of Foundation's. One that is no http or https URL is reported when the request is sent.
    public init(_ method: Method, _ url: URL, headers: Headers = [:], body: RequestBody = .none) {
        self.init(method, url.absoluteString, headers: headers, body: body)
    }
}
