// URLError in Apple's form. The numbers do not matter here.

public struct URLError: Error, Hashable {
    public struct Code: RawRepresentable, Hashable, Sendable {
        public init(rawValue: Int) { fatalError() }
        public var rawValue: Int { fatalError() }
    }

    public init(_ code: Code, userInfo: [String: Any] = [:]) { fatalError() }
    public var code: Code { fatalError() }
    public var userInfo: [String: Any] { fatalError() }
    public static func == (one: URLError, other: URLError) -> Bool { fatalError() }
    public func hash(into hasher: inout Hasher) { fatalError() }
}

extension URLError.Code {
    public static var unknown: Self { fatalError() }
    public static var cancelled: Self { fatalError() }
    public static var badURL: Self { fatalError() }
    public static var timedOut: Self { fatalError() }
    public static var unsupportedURL: Self { fatalError() }
    public static var cannotFindHost: Self { fatalError() }
    public static var cannotConnectToHost: Self { fatalError() }
    public static var networkConnectionLost: Self { fatalError() }
    public static var httpTooManyRedirects: Self { fatalError() }
    public static var resourceUnavailable: Self { fatalError() }
    public static var redirectToNonExistentLocation: Self { fatalError() }
    public static var badServerResponse: Self { fatalError() }
    public static var userAuthenticationRequired: Self { fatalError() }
    public static var cannotDecodeContentData: Self { fatalError() }
    public static var cannotParseResponse: Self { fatalError() }
    public static var appTransportSecurityRequiresSecureConnection: Self { fatalError() }
    public static var fileDoesNotExist: Self { fatalError() }
    public static var dataLengthExceedsMaximum: Self { fatalError() }
    public static var secureConnectionFailed: Self { fatalError() }
    public static var serverCertificateHasBadDate: Self { fatalError() }
    public static var serverCertificateUntrusted: Self { fatalError() }
    public static var serverCertificateHasUnknownRoot: Self { fatalError() }
    public static var serverCertificateNotYetValid: Self { fatalError() }
    public static var clientCertificateRequired: Self { fatalError() }
    public static var cannotCreateFile: Self { fatalError() }
    public static var cannotOpenFile: Self { fatalError() }
    public static var cannotWriteToFile: Self { fatalError() }
    public static var requestBodyStreamExhausted: Self { fatalError() }
}

// "CocoaError"
public struct CocoaError: Error {
    public struct Code: RawRepresentable, Hashable, Sendable {
        public init(rawValue: Int) { fatalError() }
        public var rawValue: Int { fatalError() }
        public static var userCancelled: Self { fatalError() }
    }

    public init(_ code: Code, userInfo: [String: Any] = [:]) { fatalError() }
}
