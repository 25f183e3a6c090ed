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
        self.init(string: url.text)
    }
}

extension Request {
    /// Creates a request to a URL of Foundation's. If it is no http or https URL, sending the request reports
    /// that.
    public init(_ method: HTTPMethod, _ url: URL, headers: HTTPHeaders = [:], body: RequestBody = .none) {
        self.init(method, url.absoluteString, headers: headers, body: body)
    }
}
