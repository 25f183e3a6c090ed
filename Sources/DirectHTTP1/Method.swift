/// A request method: one of the well-known ones, or any other token.
public struct Method: Hashable, Sendable {
    private enum Name: Hashable, Sendable {
        case known(Known)
        case other(String)
    }

    fileprivate enum Known: UInt8, CaseIterable, Sendable {
        case get, head, post, put, patch, delete, options, connect, trace
    }

    private let name: Name

    /// A method by its case-sensitive name; nil if that is not a token (RFC 9110, section 5.6.2).
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

    public static let get = Method(.get)
    public static let head = Method(.head)
    public static let post = Method(.post)
    public static let put = Method(.put)
    public static let patch = Method(.patch)
    public static let delete = Method(.delete)
    public static let options = Method(.options)
    public static let connect = Method(.connect)
    public static let trace = Method(.trace)

    /// Whether the request asks for no change on the server (RFC 9110, section 9.2.1).
    public var isSafe: Bool {
        switch name {
        case .known(.get), .known(.head), .known(.options), .known(.trace): true
        default: false
        }
    }

    /// Whether sending the request twice means the same as once (RFC 9110, section 9.2.2).
    public var isIdempotent: Bool {
        switch name {
        case .known(.put), .known(.delete): true
        default: isSafe
        }
    }

    /// Whether a request without content says so with `Content-Length: 0` (RFC 9110, section 8.6).
    var anticipatesContent: Bool {
        switch name {
        case .known(.post), .known(.put), .known(.patch): true
        default: false
        }
    }

    var isHead: Bool {
        if case .known(.head) = name { true } else { false }
    }

    package var isConnect: Bool {
        if case .known(.connect) = name { true } else { false }
    }
}

extension Method: ExpressibleByStringLiteral {
    /// A method by its name in source code; one that is not a token is refused when it is to be sent.
    public init(stringLiteral text: String) {
        self.init(unchecked: text)
    }
}

extension Method: CustomStringConvertible {
    /// The name, as it is sent.
    public var description: String {
        switch name {
        case .known(let known): known.text.description
        case .other(let text): text
        }
    }

    /// The name if it is a well-known one, which need not be checked.
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

extension Method.Known {
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
