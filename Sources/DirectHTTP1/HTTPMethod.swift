/// A request method: one of the well-known methods, or any other token.
public struct HTTPMethod: Hashable, Sendable {
    private enum Name: Hashable, Sendable {
        case known(Known)
        case other(String)
    }

    fileprivate enum Known: UInt8, CaseIterable, Sendable {
        case get, head, post, put, patch, delete, options, connect, trace
    }

    private let name: Name

    /// Creates a method from its case-sensitive name; `nil` if that is not a token (RFC 9110, section 5.6.2).
    public init?(validating text: String) {
        guard text.isToken else { return nil }
        self.init(unchecked: text)
    }

    private init(_ known: Known) {
        name = .known(known)
    }

    private init(unchecked text: String) {
        let known = Known.allCases.first { $0.text.description == text }
        name = known.map(Name.known) ?? .other(text)
    }

    /// GET (RFC 9110, section 9.3.1).
    public static let get = HTTPMethod(.get)
    /// HEAD (RFC 9110, section 9.3.2).
    public static let head = HTTPMethod(.head)
    /// POST (RFC 9110, section 9.3.3).
    public static let post = HTTPMethod(.post)
    /// PUT (RFC 9110, section 9.3.4).
    public static let put = HTTPMethod(.put)
    /// PATCH (RFC 5789).
    public static let patch = HTTPMethod(.patch)
    /// DELETE (RFC 9110, section 9.3.5).
    public static let delete = HTTPMethod(.delete)
    /// OPTIONS (RFC 9110, section 9.3.7).
    public static let options = HTTPMethod(.options)
    /// CONNECT (RFC 9110, section 9.3.6).
    public static let connect = HTTPMethod(.connect)
    /// TRACE (RFC 9110, section 9.3.8).
    public static let trace = HTTPMethod(.trace)

    /// Whether the method is read-only by definition (RFC 9110, section 9.2.1).
    public var isSafe: Bool {
        switch name {
        case .known(.get), .known(.head), .known(.options), .known(.trace): true
        default: false
        }
    }

    /// Whether sending the request twice has the same intended effect as sending it once (RFC 9110, section
    /// 9.2.2).
    public var isIdempotent: Bool {
        switch name {
        case .known(.put), .known(.delete): true
        case .known: isSafe
        case .other(let name): Self.otherIdempotent.contains(name)
        }
    }

    /// The other methods that IANA's registry of methods lists as idempotent, and QUERY, which is by its
    /// definition.
    private static let otherIdempotent: Set<String> = [
        "ACL", "BASELINE-CONTROL", "BIND", "CHECKIN", "CHECKOUT", "COPY", "LABEL", "LINK", "MERGE",
        "MKACTIVITY", "MKCALENDAR", "MKCOL", "MKREDIRECTREF", "MKWORKSPACE", "MOVE", "ORDERPATCH", "PROPFIND",
        "PROPPATCH", "QUERY", "REBIND", "REPORT", "SEARCH", "UNBIND", "UNCHECKOUT", "UNLINK", "UNLOCK",
        "UPDATE", "UPDATEREDIRECTREF", "VERSION-CONTROL",
    ]

    /// Whether a request without content has `Content-Length: 0` (RFC 9110, section 8.6).
    package var anticipatesContent: Bool {
        switch name {
        case .known(.post), .known(.put), .known(.patch): true
        default: false
        }
    }

    var isHead: Bool {
        if case .known(.head) = name { true } else { false }
    }

    /// Whether this is CONNECT.
    package var isConnect: Bool {
        if case .known(.connect) = name { true } else { false }
    }
}

extension HTTPMethod: ExpressibleByStringLiteral {
    /// Creates a method from a literal. A name that is not a token is refused when the request is written.
    public init(stringLiteral text: String) {
        self.init(unchecked: text)
    }
}

extension HTTPMethod: CustomStringConvertible {
    /// The method's name as it is sent.
    public var description: String {
        switch name {
        case .known(let known): known.text.description
        case .other(let text): text
        }
    }

    /// The name if it is a well-known one, which needs no check; else `nil`.
    var knownName: StaticString? {
        switch name {
        case .known(let known): known.text
        case .other: nil
        }
    }

    var byteCount: Int {
        switch name {
        case .known(let known): known.text.utf8CodeUnitCount
        case .other(let text): text.utf8.count
        }
    }
}

extension HTTPMethod.Known {
    fileprivate var text: StaticString {
        switch self {
        case .get: "GET"
        case .head: "HEAD"
        case .post: "POST"
        case .put: "PUT"
        case .patch: "PATCH"
        case .delete: "DELETE"
        case .options: "OPTIONS"
        case .connect: "CONNECT"
        case .trace: "TRACE"
        }
    }
}
