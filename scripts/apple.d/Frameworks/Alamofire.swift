// Alamofire 5.10 as far as Examples/iOS uses it: `scripts/apple app` compiles the app with it.
public import Foundation
public import FoundationNetworking

public struct AlamofireExtension<Extended> {}
extension AlamofireExtension where Extended: URLSessionConfiguration {
    public static var `default`: URLSessionConfiguration { fatalError() }
}
extension URLSessionConfiguration { public static var af: AlamofireExtension<URLSessionConfiguration>.Type { fatalError() } }

open class Session: @unchecked Sendable {
    public init(configuration: URLSessionConfiguration) {}
    open func request(_ url: URL) -> DataRequest { fatalError() }
}

open class DataRequest: @unchecked Sendable {
    @discardableResult public func validate() -> Self { self }
    public func serializingString() -> DataTask<String> { fatalError() }
}

public struct DataTask<Value: Sendable>: Sendable {
    public var value: Value { get async throws { fatalError() } }
}
