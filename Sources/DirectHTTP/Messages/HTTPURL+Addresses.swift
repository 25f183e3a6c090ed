package import DirectCore

extension HTTPURL {
    /// Whether the other URL has the same host and port. The default ports of the two schemes count as the
    /// same, for the step from `http` to `https`.
    package func isSamePlace(as other: HTTPURL) -> Bool {
        guard host == other.host else { return false }
        return port == other.port || hasDefaultPort && other.hasDefaultPort
    }

    /// Whether addresses that were set for this URL may be used for the other one. Addresses with a port may
    /// not be used for another port.
    func lends(_ addresses: [Endpoint], to other: HTTPURL) -> Bool {
        isSamePlace(as: other) && (port == other.port || addresses.allSatisfy { $0.port == nil })
    }

    private var hasDefaultPort: Bool { port == scheme.defaultPort }
}
