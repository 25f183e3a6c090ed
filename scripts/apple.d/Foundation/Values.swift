// Foundation's values in Apple's form, as far as the sources use them: declarations for the compiler only,
// which never run. The interface is that of swift-foundation, which Apple's systems have as well (module
// FoundationEssentials on Linux; on Apple's systems there is no such module, and all is in Foundation).

@_exported import Darwin

public typealias TimeInterval = Double

public struct Data: Hashable, Sendable, RandomAccessCollection {
    public init(_ bytes: [UInt8]) { fatalError() }
    public var startIndex: Int { fatalError() }
    public var endIndex: Int { fatalError() }
    public subscript(index: Int) -> UInt8 { fatalError() }
}

public struct Date: Hashable, Sendable {
    public init(timeIntervalSince1970: TimeInterval) { fatalError() }
    public var timeIntervalSince1970: TimeInterval { fatalError() }
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
    public var user: String? {
        get { fatalError() }
        set { fatalError() }
    }
    public var password: String? {
        get { fatalError() }
        set { fatalError() }
    }
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
