// Foundation in Apple's form, as far as the sources use it: declarations for the compiler only, which never run. The values are
// those of swift-foundation, which Apple's systems have as well. Where this differs from swift-corelibs-foundation, a comment
// names Apple's header or document. A class without `Sendable` here has it in neither.

@_exported import Darwin

public typealias TimeInterval = Double

public struct Data: Hashable, Sendable, RandomAccessCollection {
    public init(_ bytes: some Sequence<UInt8>) { fatalError() }
    public var startIndex: Int { fatalError() }
    public var endIndex: Int { fatalError() }
    public subscript(index: Int) -> UInt8 { fatalError() }
    public func copyBytes(to pointer: UnsafeMutablePointer<UInt8>, from range: Range<Int>) { fatalError() }
}

public struct Date: Hashable, Comparable, Sendable {
    public init() { fatalError() }
    public init(timeIntervalSince1970: TimeInterval) { fatalError() }
    public var timeIntervalSince1970: TimeInterval { fatalError() }
    public static func < (left: Date, right: Date) -> Bool { fatalError() }
}

public struct Locale: Hashable, Sendable {
    public static var preferredLanguages: [String] { fatalError() }
}

public struct UUID: Hashable, Sendable {
    public init() { fatalError() }
    public var uuidString: String { fatalError() }
}

public struct URL: Hashable, Sendable {
    public init?(string: String) { fatalError() }
    public var absoluteString: String { fatalError() }
    public var scheme: String? { fatalError() }
    public var host: String? { fatalError() }
    public var user: String? { fatalError() }
    public var password: String? { fatalError() }
    public var path: String { fatalError() }
    public var isFileURL: Bool { fatalError() }
    public func appendingPathComponent(_ pathComponent: String) -> URL { fatalError() }
}

public struct URLComponents: Hashable, Sendable {
    public init?(url: URL, resolvingAgainstBaseURL: Bool) { fatalError() }
    public var user: String?
    public var password: String?
    public var url: URL? { fatalError() }
}

public enum ComparisonResult: Int, Sendable { case orderedAscending = -1, orderedSame, orderedDescending }

extension StringProtocol {
    public func caseInsensitiveCompare(_ other: some StringProtocol) -> ComparisonResult { fatalError() }
}

public protocol LocalizedError: Error {
    var errorDescription: String? { get }
    var failureReason: String? { get }
    var recoverySuggestion: String? { get }
    var helpAnchor: String? { get }
}

extension LocalizedError {
    public var errorDescription: String? { nil }
    public var failureReason: String? { nil }
    public var recoverySuggestion: String? { nil }
    public var helpAnchor: String? { nil }
}

open class JSONEncoder {
    public init() {}
    open func encode<Value: Encodable>(_ value: Value) throws -> Data { fatalError() }
}

open class JSONDecoder {
    public init() {}
    open func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value { fatalError() }
}

public protocol NSObjectProtocol: AnyObject {}

open class NSObject: NSObjectProtocol, Hashable, CustomStringConvertible {
    public init() {}
    open func copy() -> Any { fatalError() }
    open func mutableCopy() -> Any { fatalError() }
    open var description: String { fatalError() }
    public static func == (one: NSObject, other: NSObject) -> Bool { fatalError() }
    public func hash(into hasher: inout Hasher) { fatalError() }
}

public let NSUnderlyingErrorKey: String = ""
public let NSLocalizedDescriptionKey: String = ""
public let NSURLErrorFailingURLErrorKey: String = ""

open class FileManager: NSObject, @unchecked Sendable {
    open class var `default`: FileManager { fatalError() }
}

extension FileManager {
    public var temporaryDirectory: URL { fatalError() }
}

// NSProcessInfo.h: NS_SWIFT_SENDABLE.
open class ProcessInfo: NSObject, @unchecked Sendable {
    open class var processInfo: ProcessInfo { fatalError() }
    open var processName: String { fatalError() }
}

open class Stream: NSObject {
    public enum Status: UInt { case notOpen, opening, open, reading, writing, atEnd, closed, error }

    open func open() {}
    open func close() {}
    open var streamStatus: Status { fatalError() }
    open var streamError: (any Error)? { fatalError() }
}

open class InputStream: Stream {
    open func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int { fatalError() }
}

open class OperationQueue: NSObject, @unchecked Sendable {
    open func addOperation(_ block: @escaping @Sendable () -> Void) {}
}

open class Progress: NSObject, @unchecked Sendable {
    open var totalUnitCount: Int64 = 0
    open var completedUnitCount: Int64 = 0
    open var isCancelled: Bool { fatalError() }
    open var cancellationHandler: (@Sendable () -> Void)?
}

// CoreFoundation, which Foundation exports.
open class CFRunLoop {}
public func CFRunLoopGetCurrent() -> CFRunLoop! { fatalError() }
public func CFRunLoopWakeUp(_ rl: CFRunLoop!) {}

open class RunLoop: NSObject {
    public struct Mode: RawRepresentable, Hashable, Sendable {
        public init(rawValue: String) { fatalError() }
        public var rawValue: String { fatalError() }
        public static let `default` = Mode(rawValue: "")
    }

    // NSRunLoop.h: NS_SWIFT_UNAVAILABLE_FROM_ASYNC.
    @available(*, noasync)
    open class var current: RunLoop { fatalError() }
    open var currentMode: Mode? { fatalError() }
    // NSRunLoop.h: the block is NS_SWIFT_SENDABLE.
    open func perform(inModes modes: [Mode], block: @escaping @Sendable () -> Void) {}
}

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

// The numbers do not matter here.
extension URLError.Code {
    private static let any = Self(rawValue: 0)
    public static let unknown = any, cancelled = any, badURL = any, timedOut = any, unsupportedURL = any
    public static let cannotFindHost = any, cannotConnectToHost = any, networkConnectionLost = any
    public static let httpTooManyRedirects = any, resourceUnavailable = any, redirectToNonExistentLocation = any
    public static let badServerResponse = any, userAuthenticationRequired = any, cannotDecodeContentData = any
    public static let cannotParseResponse = any, appTransportSecurityRequiresSecureConnection = any
    public static let fileDoesNotExist = any, dataLengthExceedsMaximum = any, secureConnectionFailed = any
    public static let serverCertificateHasBadDate = any, serverCertificateUntrusted = any
    public static let serverCertificateHasUnknownRoot = any, serverCertificateNotYetValid = any
    public static let clientCertificateRequired = any, cannotCreateFile = any, cannotOpenFile = any
    public static let cannotWriteToFile = any, requestBodyStreamExhausted = any
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
