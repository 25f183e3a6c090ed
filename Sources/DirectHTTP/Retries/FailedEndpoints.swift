internal import DirectCore
internal import DirectIO
internal import DirectTransport

/// The endpoints where earlier attempts of one request failed.
struct FailedEndpoints: Equatable, Sendable {
    /// Each endpoint once, the latest failure last.
    private var failed: [Endpoint] = []
    /// The servers that answered 421: they do not serve the name.
    private var misdirected: [Endpoint] = []

    /// Whether no endpoint has failed.
    var isEmpty: Bool { failed.isEmpty && misdirected.isEmpty }

    /// Records that a server, or the path to it, failed.
    mutating func recordFailure(at endpoint: Endpoint?) {
        guard let endpoint else { return }
        failed.removeAll { $0 == endpoint }
        failed.append(endpoint)
    }

    /// Records that a server does not serve the name (RFC 9110, section 15.5.20).
    mutating func recordMisdirection(at endpoint: Endpoint?) {
        guard let endpoint, !misdirected.contains(endpoint) else { return }
        misdirected.append(endpoint)
    }

    /// Returns the endpoints that the next attempt avoids; `nil` if it avoids none.
    func detour(onNewConnection wantsNewConnection: Bool = false) -> Detour? {
        guard wantsNewConnection || !failed.isEmpty || !misdirected.isEmpty else { return nil }
        return Detour(failed: failed, misdirected: misdirected, wantsNewConnection: wantsNewConnection)
    }
}
