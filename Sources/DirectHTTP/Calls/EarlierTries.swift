internal import DirectIO

/// Where the earlier tries of one request have failed.
struct EarlierTries: Sendable {
    /// Each once, the latest failure last.
    private var failed: [Endpoint] = []
    /// The servers that have said that they do not serve the name (421).
    private var misdirected: [Endpoint] = []

    /// A server failed, or the way to it did.
    mutating func noteFailure(at endpoint: Endpoint?) {
        guard let endpoint else { return }
        failed.removeAll { $0 == endpoint }
        failed.append(endpoint)
    }

    /// A server said that it does not serve the name (RFC 9110, section 15.5.20).
    mutating func noteMisdirection(at endpoint: Endpoint?) {
        guard let endpoint, !misdirected.contains(endpoint) else { return }
        misdirected.append(endpoint)
    }

    /// The way of the next try; `nil` if it is the same as the way of the first one.
    func detour(onNewConnection wantsNewConnection: Bool = false) -> Detour? {
        guard wantsNewConnection || !failed.isEmpty || !misdirected.isEmpty else { return nil }
        return Detour(failed: failed, misdirected: misdirected, wantsNewConnection: wantsNewConnection)
    }
}
