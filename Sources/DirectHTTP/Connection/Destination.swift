internal import DirectIO
internal import DirectTLS

/// Whom a connection is for: the name that decides everything but where the bytes go.
struct Destination: Hashable, Sendable {
    let host: Host
    let port: UInt16
    let isSecure: Bool

    init(host: Host, port: UInt16, isSecure: Bool) {
        self.host = host
        self.port = port
        self.isSecure = isSecure
    }

    init(_ url: HTTPURL) {
        self.init(host: url.host, port: url.port, isSecure: url.scheme == .https)
    }

    /// What the server's certificate must prove. The address that is dialled has no part in it.
    var serverIdentity: ServerIdentity {
        get throws(TLSError) {
            switch host {
            case .name(let name): try .name(name.description)
            case .address(let address): try .address(address.withoutZone.description)
            }
        }
    }
}

/// How long dialling may take: each phase, and the call it is for. And where to write what happens.
struct DialLimits: Sendable {
    let timeouts: Timeouts.Nanoseconds
    let end: Instant
    let loop: EventLoop
    /// Until when descriptors are waited for, where there are none: as long as for a turn in the pool.
    let endOfShortage: Instant
    var log: ExchangeLog?

    init(timeouts: Timeouts.Nanoseconds, end: Instant, loop: EventLoop, log: ExchangeLog? = nil) {
        self.timeouts = timeouts
        self.end = end
        self.loop = loop
        self.log = log
        endOfShortage = min(end, loop.now.advanced(byNanoseconds: timeouts.queue))
    }

    /// The limits of a wait that begins now.
    func patience(_ phase: HTTPError.Phase, _ stall: UInt64) -> Patience {
        Patience(phase, stall: stall, end: end, total: timeouts.total, from: loop.now)
    }
}
