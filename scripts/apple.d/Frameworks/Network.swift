// Network as far as Examples/iOS uses it, written from Apple's documents: `scripts/apple app` compiles the app with it.
public import Dispatch

public enum NWEndpoint: Sendable {
    case hostPort(host: Host, port: Port)
    public struct Host: Sendable { public init(_ string: String) {} }
    public struct Port: Sendable { public init?(rawValue: UInt16) {} }
}

public struct ProxyConfiguration: Sendable {
    public init(httpCONNECTProxy endpoint: NWEndpoint) {}
    public var allowFailover: Bool { get { fatalError() } set {} }
    public mutating func applyCredential(username: String, password: String) {}
}

public struct NWPath: Sendable {
    public enum Status: Sendable { case satisfied, unsatisfied, requiresConnection }
    public var status: Status { fatalError() }
}

public final class NWPathMonitor: @unchecked Sendable {
    public init() {}
    @preconcurrency public var pathUpdateHandler: (@Sendable (NWPath) -> Void)?
    public func start(queue: DispatchQueue) {}
}
