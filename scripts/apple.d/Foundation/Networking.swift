// Foundation's networking classes in Apple's form, as far as the sources use them. The module is compiled for library
// evolution: so the enums may gain cases, as those of Objective-C.

open class NSURLRequest: NSObject {
    public enum CachePolicy: UInt, Sendable {
        case useProtocolCachePolicy = 0
        case reloadIgnoringLocalCacheData = 1
        case reloadIgnoringLocalAndRemoteCacheData = 4
        case returnCacheDataElseLoad = 2
        case returnCacheDataDontLoad = 3
        case reloadRevalidatingCacheData = 5
    }
}

open class NSMutableURLRequest: NSURLRequest {}

public struct URLRequest: Hashable, Sendable, _ObjectiveCBridgeable {
    public typealias CachePolicy = NSURLRequest.CachePolicy

    public init(url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60) { fatalError() }
    public var url: URL?
    public var cachePolicy: CachePolicy
    public var timeoutInterval: TimeInterval = 0
    public var httpMethod: String?
    public var allHTTPHeaderFields: [String: String]?
    public var httpBody: Data?
    public var httpBodyStream: InputStream? { get { fatalError() } set {} }
    public var httpShouldHandleCookies: Bool = false
    public func value(forHTTPHeaderField field: String) -> String? { fatalError() }
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {}
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {}

    public func _bridgeToObjectiveC() -> NSURLRequest { fatalError() }
    public static func _forceBridgeFromObjectiveC(_ input: NSURLRequest, result: inout URLRequest?) {}
    public static func _conditionallyBridgeFromObjectiveC(_ input: NSURLRequest, result: inout URLRequest?) -> Bool { fatalError() }
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSURLRequest?) -> URLRequest { fatalError() }
}

open class URLResponse: NSObject, @unchecked Sendable {}

open class HTTPURLResponse: URLResponse, @unchecked Sendable {
    public init?(url: URL, statusCode: Int, httpVersion: String?, headerFields: [String: String]?) { fatalError() }
    open var statusCode: Int { fatalError() }
}

open class URLCache: NSObject, @unchecked Sendable {
    public enum StoragePolicy: UInt, Sendable { case allowed, allowedInMemoryOnly, notAllowed }
}

open class CachedURLResponse: NSObject, @unchecked Sendable {}

public protocol URLProtocolClient: NSObjectProtocol {
    func urlProtocol(_ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse)
    func urlProtocol(_ protocol: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy: URLCache.StoragePolicy)
    func urlProtocol(_ protocol: URLProtocol, didLoad data: Data)
    func urlProtocolDidFinishLoading(_ protocol: URLProtocol)
    func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error)
}

open class URLProtocol: NSObject {
    public init(
        request: URLRequest,
        cachedResponse: CachedURLResponse?,
        client: (any URLProtocolClient)?
    ) { fatalError() }
    // "client": `{ get }`. corelibs has a setter as well.
    open var client: (any URLProtocolClient)? { fatalError() }
    open var request: URLRequest { fatalError() }
    open class func canInit(with request: URLRequest) -> Bool { fatalError() }
    open class func canonicalRequest(for request: URLRequest) -> URLRequest { fatalError() }
    open class func requestIsCacheEquivalent(_ one: URLRequest, to other: URLRequest) -> Bool { fatalError() }
    open func startLoading() {}
    open func stopLoading() {}
    open class func property(forKey key: String, in request: URLRequest) -> Any? { fatalError() }
    open class func setProperty(_ value: Any, forKey key: String, in request: NSMutableURLRequest) {}
    open class func registerClass(_ protocolClass: AnyClass) -> Bool { fatalError() }
}

// NSURLProtocol.h: a category. corelibs has both in the class.
extension URLProtocol {
    public class func canInit(with task: URLSessionTask) -> Bool { fatalError() }
    public var task: URLSessionTask? { fatalError() }
}

open class URLSessionTask: NSObject, @unchecked Sendable {}

open class URLSessionConfiguration: NSObject, @unchecked Sendable {
    open var timeoutIntervalForRequest: TimeInterval = 0
    open var timeoutIntervalForResource: TimeInterval = 0
    open var httpAdditionalHeaders: [AnyHashable: Any]?
    open var requestCachePolicy: URLRequest.CachePolicy = .useProtocolCachePolicy
}

public struct HTTPCookiePropertyKey: RawRepresentable, Hashable, Sendable {
    public init(_ rawValue: String) { fatalError() }
    public init(rawValue: String) { fatalError() }
    public var rawValue: String { fatalError() }
    public static let name = Self("")
    public static let value = Self("")
    public static let path = Self("")
    public static let domain = Self("")
    public static let expires = Self("")
    public static let secure = Self("")
}

open class HTTPCookie: NSObject, @unchecked Sendable {
    public enum AcceptPolicy: UInt, Sendable { case always, never, onlyFromMainDocumentDomain }

    public init?(properties: [HTTPCookiePropertyKey: Any]) { fatalError() }
    open var properties: [HTTPCookiePropertyKey: Any]? { fatalError() }
    open var name: String { fatalError() }
    open var value: String { fatalError() }
    open var domain: String { fatalError() }
    open var path: String { fatalError() }
    open var expiresDate: Date? { fatalError() }
    open var isSecure: Bool { fatalError() }
    open var isHTTPOnly: Bool { fatalError() }
}

open class HTTPCookieStorage: NSObject, @unchecked Sendable {
    open class var shared: HTTPCookieStorage { fatalError() }
    open var cookies: [HTTPCookie]? { fatalError() }
    open var cookieAcceptPolicy: HTTPCookie.AcceptPolicy { get { fatalError() } set {} }
    open func setCookie(_ cookie: HTTPCookie) {}
    open func deleteCookie(_ cookie: HTTPCookie) {}
}

public let NSURLAuthenticationMethodDefault: String = ""
public let NSURLAuthenticationMethodHTTPBasic: String = ""
public let NSURLAuthenticationMethodHTTPDigest: String = ""

open class URLCredential: NSObject, @unchecked Sendable {}

// "user", "password": in an extension, as in NSURLCredential.h.
extension URLCredential {
    public var user: String? { fatalError() }
    public var password: String? { fatalError() }
}

open class URLProtectionSpace: NSObject, @unchecked Sendable {
    open var realm: String? { fatalError() }
    open var host: String { fatalError() }
    open var port: Int { fatalError() }
    open var `protocol`: String? { fatalError() }
    open var authenticationMethod: String { fatalError() }
    // NSURLProtectionSpace.h: a method, which Swift calls `isProxy()`.
    open func isProxy() -> Bool { fatalError() }
}

open class URLCredentialStorage: NSObject, @unchecked Sendable {
    open class var shared: URLCredentialStorage { fatalError() }
    open var allCredentials: [URLProtectionSpace: [String: URLCredential]] { fatalError() }
    open func defaultCredential(for space: URLProtectionSpace) -> URLCredential? { fatalError() }
}
