/// The three-digit result of a request, 100 to 999; what lies beyond 599 is rare, but valid.
public struct Status: Hashable, Sendable {
    /// The number.
    public let code: UInt16

    /// A status by its number; nil unless that has three digits and does not begin with 0.
    public init?(code: Int) {
        guard (100...999).contains(code) else { return nil }
        self.code = UInt16(truncatingIfNeeded: code)
    }

    /// For numbers that are known to be in the range.
    init(unchecked code: UInt16) {
        self.code = code
    }

    /// Whether this is 1xx: the final response is still to come.
    public var isInformational: Bool { code < 200 }
    /// Whether this is 2xx.
    public var isSuccess: Bool { code >= 200 && code < 300 }
    /// Whether this is 3xx, be there a place to go to or not.
    public var isRedirection: Bool { code >= 300 && code < 400 }
    /// Whether this is 4xx.
    public var isClientError: Bool { code >= 400 && code < 500 }
    /// Whether this is 5xx.
    public var isServerError: Bool { code >= 500 && code < 600 }

    public static let `continue`: Status = 100
    public static let switchingProtocols: Status = 101
    public static let earlyHints: Status = 103
    public static let ok: Status = 200
    public static let created: Status = 201
    public static let noContent: Status = 204
    public static let partialContent: Status = 206
    public static let movedPermanently: Status = 301
    public static let found: Status = 302
    public static let seeOther: Status = 303
    public static let notModified: Status = 304
    public static let temporaryRedirect: Status = 307
    public static let permanentRedirect: Status = 308
    public static let badRequest: Status = 400
    public static let unauthorized: Status = 401
    public static let forbidden: Status = 403
    public static let notFound: Status = 404
    public static let proxyAuthenticationRequired: Status = 407
    public static let requestTimeout: Status = 408
    public static let expectationFailed: Status = 417
    public static let misdirectedRequest: Status = 421
    public static let tooManyRequests: Status = 429
    public static let internalServerError: Status = 500
    public static let badGateway: Status = 502
    public static let serviceUnavailable: Status = 503
    public static let gatewayTimeout: Status = 504
}

extension Status: ExpressibleByIntegerLiteral {
    /// A status by its number in source code, which must be 100 to 999.
    public init(integerLiteral code: UInt16) {
        precondition((100...999).contains(code), "a status code has three digits")
        self.code = code
    }
}

extension Status: Comparable {
    /// By number.
    public static func < (left: Status, right: Status) -> Bool {
        left.code < right.code
    }
}

extension Status: CustomStringConvertible {
    /// The number's three digits.
    public var description: String { String(code) }
}
