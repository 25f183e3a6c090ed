internal import DirectHTTP
internal import Foundation

/// The header fields of a request of Foundation's, and those of its session, as a client sends them.
///
/// All fields of Foundation pass through here. Those that the client writes itself are left out or become
/// options of the request, as URLSession does it: one such field in the settings of a session must not fail
/// all of its requests.
struct FoundationFields {
    /// The fields to send.
    private(set) var headers = HTTPHeaders()
    /// The value of `Content-Length`, which only gives the length of a body stream.
    private(set) var contentLength: UInt64?
    /// Whether the server is to be asked before the body is sent (RFC 9110, section 10.1.1).
    private(set) var expectsContinue = false
    /// Whether the server is asked for content without a coding.
    private(set) var declinesCodings = false
    private let url: URL?

    /// Creates the fields of a request to this URL, and adds those of its session that it does not set.
    init(_ fields: [String: String], over additional: [AnyHashable: Any], to url: URL?) {
        self.url = url
        for (name, value) in fields { add(name, value) }
        let set = headers
        for case (let name as String, let value) in additional where !set.contains(name) {
            add(name, "\(value)")
        }
    }

    private func isHost(_ text: String) -> Bool {
        guard let url, let own = try? HTTPURL(url), let given = try? HTTPURL("http://\(text)/") else {
            return false
        }
        return given.host == own.host && (given.port == 80 || given.port == own.port)
            && given.authority == text.lowercased()
    }

    private mutating func add(_ name: String, _ value: String) {
        switch name.lowercased() {
        case "content-length": contentLength = contentLength ?? UInt64(value)
        case "expect": expectsContinue = expectsContinue || value.lowercased() == "100-continue"
        // The codings that the caller knows do not count: here everything is decoded, as by URLSession.
        case "accept-encoding": declinesCodings = declinesCodings || value.lowercased() == "identity"
        // The name of the URL without its port. Another name is refused when the request is sent.
        case "host" where isHost(value): break
        case "te" where value.lowercased().contains("chunked"): break
        case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade": break
        default: headers.add(name, value)
        }
    }
}
