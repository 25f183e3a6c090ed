/// The nonces of one origin, and how often each has been used.
///
/// Many requests may be in flight at a time. Each use of a nonce gets its own count, since a server may treat
/// a repeated count as a replay (RFC 7616, section 5.5), and the outcome of one nonce says nothing about the
/// nonces of other requests.
struct DigestMemory: Sendable {
    /// The sessions in order of arrival, the latest last.
    private var sessions: [DigestSession] = []
    /// The nonce to use without waiting for a challenge; `nil` if the server has to send one first. Only one
    /// that was accepted: a server that takes each nonce once would refuse the request that it was made for,
    /// if another came first.
    private var current: [UInt8]?

    /// Returns the session to answer with in advance, and counts the use; `nil` if there is none.
    ///
    /// - Parameter own: the nonce that the request has been sent with before.
    mutating func next(own: [UInt8]? = nil) -> DigestSession? {
        (own ?? current).flatMap { use($0) }
    }

    /// Returns the session to answer a challenge with; `nil` if another answer would be refused as well.
    mutating func take(_ offered: DigestSession, after refused: DigestUse?) -> DigestSession? {
        let isHopeless = refused.map { self.isHopeless(offered, after: $0) } ?? false
        if let refused, current == refused.nonce, isHopeless || offered.nonce != refused.nonce {
            current = nil
        }
        guard !isHopeless else { return nil }
        if let known = use(offered.nonce) { return known }
        if sessions.count >= Self.limit { sessions.removeFirst() }
        sessions.append(offered)
        return offered
    }

    /// Notes that the server has accepted an answer with this nonce. A later nonce stays the current one.
    mutating func accept(_ nonce: [UInt8]) {
        let latest = sessions.last { $0.nonce == nonce || $0.nonce == current }
        if let latest { current = latest.nonce }
    }

    /// Whether the refusal was about the password rather than the nonce or its count.
    ///
    /// A server that has forgotten a nonce need not report it as stale; if the nonce was accepted before,
    /// forgetting is assumed. A count may also have been overtaken by a higher one, if other requests have
    /// used the nonce since.
    private func isHopeless(_ offered: DigestSession, after refused: DigestUse) -> Bool {
        guard !offered.isStale else { return false }
        let uses = sessions.first { $0.nonce == refused.nonce }?.count
        if offered.nonce == refused.nonce { return refused.count.map { $0 == uses } ?? true }
        return uses == 1
    }

    private mutating func use(_ nonce: [UInt8]) -> DigestSession? {
        guard let index = sessions.firstIndex(where: { $0.nonce == nonce }) else { return nil }
        sessions[index].count &+= 1
        return sessions[index]
    }

    /// The number of sessions that are kept. A refused nonce that has been dropped is treated as one that was
    /// accepted before.
    private static let limit = 64
}

/// The nonce of an answer that was sent, and its count if the answer had one.
struct DigestUse: Sendable {
    let nonce: [UInt8]
    let count: UInt32?
}
