private import DirectHello

/// What a server is to those who ask for one name.
package struct FixtureSite: Sendable {
    /// The layer below the behaviour. With ``FixtureSecurity/plain`` the behaviour itself answers a client
    /// that begins TLS, after its ClientHello.
    package var security: FixtureSecurity
    package var behaviour: FixtureBehaviour

    package init(_ security: FixtureSecurity, _ behaviour: FixtureBehaviour) {
        (self.security, self.behaviour) = (security, behaviour)
    }
}

/// What the first bytes of a connection ask for.
package enum FixtureAsk: Hashable, Sendable {
    /// They are not those of TLS.
    case plain
    /// TLS with this server name, in lower case.
    case tls(String?)
}

/// The sites behind one port. Each is made when it is asked for first.
final class ChosenSites: Sendable {
    /// What a connection meets.
    struct Site {
        let security: TLSContext?
        let behaviour: FixtureBehaviour

        /// Whether it only tells clients that nobody is here.
        var isRefusal: Bool {
            guard security == nil, case .bytes(let script) = behaviour else { return false }
            return script.isAlert
        }
    }

    private let sites = MadeOnce<FixtureAsk, Site>()
    private let choose: @Sendable (FixtureAsk) throws -> FixtureSite

    init(_ choose: @escaping @Sendable (FixtureAsk) throws -> FixtureSite) { self.choose = choose }

    /// Returns the site that is asked for. Making it is slow for large keys; those who ask for the same one
    /// wait, and nobody else.
    func site(for ask: FixtureAsk) throws -> Site {
        // Nobody can make them grow without an end by asking for ever new names, nor take the room of names
        // that are served by asking for others.
        try sites.value(for: ask, keeping: { !$0.isRefusal && $1 < Self.limit }) {
            let new = try choose(ask)
            return Site(security: try TLSContext.of(new.security), behaviour: new.behaviour)
        }
    }

    private static let limit = 1000
}

extension TLSContext {
    /// Returns the context of TLS; `nil` without TLS.
    static func of(_ security: FixtureSecurity) throws(FixtureError) -> TLSContext? {
        switch security {
        case .plain: nil
        case .tls(let settings): try TLSContext(settings)
        }
    }
}

extension FixtureAsk {
    /// Reads from a socket until it is known what is asked for. Returns the bytes that were read, too.
    static func read(from socket: Int32) -> (ask: FixtureAsk, bytes: [UInt8]) {
        var (flight, all) = (FirstFlight(), [UInt8]())
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
        defer { piece.deallocate() }
        while true {
            let count = Sockets.receive(socket, bytes: piece)
            guard count > 0 else { return (.plain, all) }
            let new = Array(piece[..<count])
            all += new
            // The span of an array is newer than the systems that this is for.
            switch new.withUnsafeBufferPointer({ flight.add($0.span) }) {
            case .needsMore: continue
            case .other: return (.plain, all)
            // OpenSSL says what it thinks of it.
            case .unreadable, .otherMessage: return (.tls(nil), all)
            case .hello(let hello): return (.tls(hello.serverName), all)
            }
        }
    }
}
