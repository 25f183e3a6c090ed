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

extension Request {
    /// The addresses that hold for the place of the other request as well; `nil` if none do.
    func addresses(for other: Request) -> [Endpoint]? {
        guard case .success(let url) = other.parsedURL else { return nil }
        return addresses(for: url)
    }

    /// The addresses that hold for a URL as well; `nil` if none do.
    func addresses(for url: HTTPURL) -> [Endpoint]? {
        guard case .success(let own) = parsedURL, let addresses, own.lends(addresses, to: url) else {
            return nil
        }
        return addresses
    }
}
