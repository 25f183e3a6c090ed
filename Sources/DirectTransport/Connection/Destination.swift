package import DirectCore
internal import DirectIO

/// The server that a connection is for: the name decides everything except the address that is dialled.
package struct Destination: Hashable, Sendable {
    package let host: HTTPHost
    package let port: UInt16
    package let isSecure: Bool
    /// Whether the URL marks the name as complete by a final dot.
    private let isComplete: Bool

    init(host: HTTPHost, port: UInt16, isSecure: Bool, isComplete: Bool = false) {
        self.host = host
        self.port = port
        self.isSecure = isSecure
        self.isComplete = isComplete
    }

    init(_ url: HTTPURL) {
        self.init(
            host: url.host,
            port: url.port,
            isSecure: url.scheme == .https,
            isComplete: url.hasTrailingDot
        )
    }

    /// The name for the system's resolver. With its final dot, the resolver does not append the domains of
    /// its search list to it.
    var lookupName: String { isComplete ? host.description + "." : host.description }
}
