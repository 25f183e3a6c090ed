internal import DirectCore
internal import DirectIO
internal import DirectTLS

/// The server that a connection is for: the name decides everything except the address that is dialled.
struct Destination: Hashable, Sendable {
    let host: HTTPHost
    let port: UInt16
    let isSecure: Bool

    init(host: HTTPHost, port: UInt16, isSecure: Bool) {
        self.host = host
        self.port = port
        self.isSecure = isSecure
    }

    init(_ url: HTTPURL) {
        self.init(host: url.host, port: url.port, isSecure: url.scheme == .https)
    }

    /// The identity that the server's certificate must prove. The dialled address has no part in it.
    var serverIdentity: ServerIdentity {
        get throws(TLSError) {
            switch host {
            case .name(let name): try .name(name.description)
            case .address(let address): try .address(address.withoutZone.description)
            }
        }
    }
}

/// The time limits of dialling, for each phase and for the whole call, and the log of its events.
struct DialLimits: Sendable {
    let timeouts: Timeouts.Nanoseconds
    /// The end of the whole call.
    let end: Instant
    let loop: EventLoop
    /// The moment until which dialling waits for a descriptor during a shortage: the time limit of the pool's
    /// queue.
    let endOfShortage: Instant
    var log: ExchangeLog?

    init(timeouts: Timeouts.Nanoseconds, end: Instant, loop: EventLoop, log: ExchangeLog? = nil) {
        self.timeouts = timeouts
        self.end = end
        self.loop = loop
        self.log = log
        endOfShortage = min(end, loop.now.advanced(byNanoseconds: timeouts.queue))
    }

    /// Returns the limits of a wait that begins now.
    func deadline(_ phase: HTTPError.Phase, stall: UInt64) -> Deadline {
        Deadline(phase, stall: stall, end: end, total: timeouts.total, from: loop.now)
    }
}
