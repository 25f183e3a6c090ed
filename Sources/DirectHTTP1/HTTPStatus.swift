/// The three-digit status code of a response, 100 to 999. Codes above 599 are rare, but valid.
public struct HTTPStatus: Hashable, Sendable {
    /// The code as a number.
    public let code: UInt16

    /// Creates a status from its code; `nil` unless that is from 100 to 999.
    public init?(code: Int) {
        guard (100...999).contains(code) else { return nil }
        self.code = UInt16(truncatingIfNeeded: code)
    }

    /// Creates a status from a code that is known to be in the range.
    init(unchecked code: UInt16) {
        self.code = code
    }

    /// Whether this is 1xx: the final response is still to come.
    public var isInformational: Bool { code < 200 }
    /// Whether this is 2xx.
    public var isSuccess: Bool { code >= 200 && code < 300 }
    /// Whether this is 3xx, with or without a `Location` to go to.
    public var isRedirection: Bool { code >= 300 && code < 400 }
    /// Whether this is 4xx.
    public var isClientError: Bool { code >= 400 && code < 500 }
    /// Whether this is 5xx.
    public var isServerError: Bool { code >= 500 && code < 600 }

    /// 100 Continue.
    public static let `continue`: HTTPStatus = 100
    /// 101 Switching Protocols.
    public static let switchingProtocols: HTTPStatus = 101
    /// 103 Early Hints (RFC 8297).
    public static let earlyHints: HTTPStatus = 103
    /// 200 OK.
    public static let ok: HTTPStatus = 200
    /// 201 Created.
    public static let created: HTTPStatus = 201
    /// 204 No Content.
    public static let noContent: HTTPStatus = 204
    /// 206 Partial Content.
    public static let partialContent: HTTPStatus = 206
    /// 301 Moved Permanently.
    public static let movedPermanently: HTTPStatus = 301
    /// 302 Found.
    public static let found: HTTPStatus = 302
    /// 303 See Other.
    public static let seeOther: HTTPStatus = 303
    /// 304 Not Modified.
    public static let notModified: HTTPStatus = 304
    /// 307 Temporary Redirect.
    public static let temporaryRedirect: HTTPStatus = 307
    /// 308 Permanent Redirect.
    public static let permanentRedirect: HTTPStatus = 308
    /// 400 Bad Request.
    public static let badRequest: HTTPStatus = 400
    /// 401 Unauthorized.
    public static let unauthorized: HTTPStatus = 401
    /// 403 Forbidden.
    public static let forbidden: HTTPStatus = 403
    /// 404 Not Found.
    public static let notFound: HTTPStatus = 404
    /// 407 Proxy Authentication Required.
    public static let proxyAuthenticationRequired: HTTPStatus = 407
    /// 408 Request Timeout.
    public static let requestTimeout: HTTPStatus = 408
    /// 417 Expectation Failed.
    public static let expectationFailed: HTTPStatus = 417
    /// 421 Misdirected Request.
    public static let misdirectedRequest: HTTPStatus = 421
    /// 429 Too Many Requests (RFC 6585).
    public static let tooManyRequests: HTTPStatus = 429
    /// 500 Internal Server Error.
    public static let internalServerError: HTTPStatus = 500
    /// 502 Bad Gateway.
    public static let badGateway: HTTPStatus = 502
    /// 503 Service Unavailable.
    public static let serviceUnavailable: HTTPStatus = 503
    /// 504 Gateway Timeout.
    public static let gatewayTimeout: HTTPStatus = 504
}

extension HTTPStatus: ExpressibleByIntegerLiteral {
    /// Creates a status from a literal, which must be from 100 to 999.
    public init(integerLiteral code: UInt16) {
        precondition((100...999).contains(code), "a status code has three digits")
        self.code = code
    }
}

extension HTTPStatus: Comparable {
    /// Compares the codes as numbers.
    public static func < (left: HTTPStatus, right: HTTPStatus) -> Bool {
        left.code < right.code
    }
}

extension HTTPStatus: CustomStringConvertible {
    /// The code's three digits.
    public var description: String { String(code) }
}
