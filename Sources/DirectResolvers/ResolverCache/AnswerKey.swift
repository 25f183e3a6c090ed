internal import DirectCore

/// The key of an answer in a cache: a name, and a port and a scheme if answers depend on them.
struct AnswerKey: Hashable {
    let host: DomainName
    /// The port; 0 means any.
    let port: UInt16
    /// Whether the answer is for `http` alone. Never if it is for any port.
    let isPlain: Bool
    /// Whether the name has a final dot, for resolvers that complete names without it.
    let isComplete: Bool

    init(host: DomainName, port: UInt16, isPlain: Bool = false, isComplete: Bool = false) {
        (self.host, self.port, self.isPlain, self.isComplete) = (host, port, isPlain, isComplete)
    }

    init(host: DomainName, tag: UInt32) {
        self.init(
            host: host,
            port: UInt16(truncatingIfNeeded: tag),
            isPlain: tag & Self.plainBit != 0,
            isComplete: tag & Self.completeBit != 0
        )
    }

    /// The key in one table with other names, beside the name.
    var tag: UInt32 {
        UInt32(port) | (isPlain ? Self.plainBit : 0) | (isComplete ? Self.completeBit : 0)
    }

    func hash(into hasher: inout Hasher) {
        var hash = FoldedHash()
        host.bytes.withSpan { hash.fold($0) }
        hash.fold(UInt64(tag))
        hasher.combine(hash.value)
    }

    private static let plainBit: UInt32 = 1 << 16
    private static let completeBit: UInt32 = 1 << 17
}
