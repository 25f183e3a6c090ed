/// The nonces of one origin, and how often each has been used.
///
/// Many requests are under way at a time: each use of a nonce has a count of its own, as a server may take a count that comes
/// again for a replay (RFC 7616, section 5.5), and what became of one nonce says nothing about those of other requests.
struct DigestMemory: Sendable {
    /// The latest at the end.
    private var sessions: [DigestSession] = []
    /// The nonce to use without having been asked; `nil` where the server has to ask first.
    private var current: String?

    /// What to answer without having been asked.
    mutating func next() -> DigestSession? {
        current.flatMap { use($0) }
    }

    /// What to answer to a challenge that came after an answer was refused; `nil` if another answer would fare no better.
    mutating func take(_ offered: DigestSession, after refused: DigestUse?) -> DigestSession? {
        if let refused, isHopeless(offered, after: refused) {
            if current == refused.nonce { current = nil }
            return nil
        }
        current = offered.nonce
        if let known = use(offered.nonce) { return known }
        if sessions.count >= Self.limit { sessions.removeFirst() }
        sessions.append(offered)
        return offered
    }

    /// Whether the refusal was about the password.
    ///
    /// A server that has forgotten a nonce need not say that it is stale: so much is clear where the nonce had served before.
    /// A count may have been overtaken by a higher one: that is possible where others have used the nonce since.
    private func isHopeless(_ offered: DigestSession, after refused: DigestUse) -> Bool {
        guard !offered.isStale else { return false }
        let uses = sessions.first { $0.nonce == refused.nonce }?.count
        if offered.nonce == refused.nonce { return refused.count.map { $0 == uses } ?? true }
        return uses == 1
    }

    private mutating func use(_ nonce: String) -> DigestSession? {
        guard let index = sessions.firstIndex(where: { $0.nonce == nonce }) else { return nil }
        sessions[index].count &+= 1
        return sessions[index]
    }

    /// A refusal of an older nonce is taken for one of a nonce that has served before.
    private static let limit = 64
}

/// The nonce of an answer that was given, and its count where the answer has one.
struct DigestUse: Sendable {
    let nonce: String
    let count: UInt32?

    init(nonce: String, count: UInt32?) {
        self.nonce = nonce
        self.count = count
    }

    /// Reads what `Authorization` said; `nil` if it was no digest.
    init?(_ authorization: String) {
        // Credentials are written like challenges (RFC 9110, section 11.4).
        guard let said = Challenge.all(of: authorization).first, said.scheme == "digest",
            let nonce = said.parameters["nonce"]
        else { return nil }
        self.init(nonce: nonce, count: said.parameters["nc"].flatMap { UInt32($0, radix: 16) })
    }
}
