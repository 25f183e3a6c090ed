public import DirectCore
public import DirectLookup
public import DirectIO
public import DirectTransport

/// What a proxy does.
public struct LocalProxySettings: Sendable {
    /// Where it listens. Without a port the system chooses one. Only addresses of the loopback network,
    /// unless ``listensBeyondLoopback`` is set.
    public var listen: [Endpoint] = ["127.0.0.1"]
    /// Whether it may listen at addresses that other machines reach: a program there with its credentials,
    /// or any with ``LocalProxy/Access/anyLocalProgram``, then uses this machine's network.
    public var listensBeyondLoopback = false
    /// The programs that may use it.
    public var access = LocalProxy.Access.credentials
    /// The addresses of hosts, which are dialled whatever ``vetting`` says.
    public var addresses = StaticMap()
    /// Names the addresses of the names that are not in ``addresses``; `nil` leaves them to ``others``.
    public var resolver: (any Resolver)?
    /// The names that the resolver is asked for; `nil` for all. Those that do not match are left to
    /// ``others``.
    public var matching: [HostPattern]?
    /// What happens to hosts that neither the map nor the resolver is for.
    public var others = LocalProxy.OtherNames.dialled
    /// Judges each address at the moment it is dialled, but those of ``addresses``; `nil` allows all. The
    /// proxy itself is refused in any case.
    ///
    /// Behind a proxy browsers lose their own checks of local networks: a page may ask for any address. The
    /// default allows those of the public internet but 168.63.129.16, where Azure tells its machines'
    /// secrets.
    public var vetting: AddressVetting? = .publicInternetOnly(denying: Self.azure)
    /// What is done with the server's name that a program sends in TLS.
    public var serverNames = LocalProxy.ServerNames.reported
    /// The proxy that is asked by CONNECT, also for `http` URLs, for the chosen addresses; `nil` for none.
    public var upstream: Proxy?
    /// Whether it serves the file of ``LocalProxy/pacURL``, to whoever asks: it holds no credentials.
    public var servesPAC = false
    /// How much of everything there may be.
    public var limits = LocalProxy.Limits()
    /// Is told of events, on the loop's thread; must not block.
    public var onEvent: (@Sendable (LocalProxy.Event) -> Void)?
    /// The loop that all of it runs on.
    public var loop = EventLoop.shared

    /// Makes the default settings: a port on 127.0.0.1, credentials, the system's resolver, public
    /// addresses.
    public init() {}

    private static let azure = [try? AddressRange("168.63.129.16")].compactMap { $0 }
}

extension LocalProxy {
    /// The programs that may use a proxy.
    public enum Access: Hashable, Sendable {
        /// Those with its credentials, which are random and new with each start.
        case credentials
        /// Any program that reaches its port: all of this machine, of all users. For programs that cannot
        /// send credentials, such as Chromium without help.
        case anyLocalProgram
    }

    /// What happens to hosts that neither the map nor the resolver is for.
    public enum OtherNames: Hashable, Sendable {
        /// They are dialled at the addresses of the system's resolver, or at the address that they are.
        case dialled
        /// They are refused, with status 403.
        case refused
    }

    /// What is done with the server's name that a program sends in the ClientHello of its TLS.
    public enum ServerNames: Hashable, Sendable {
        /// It is not read.
        case ignored
        /// It is read on its way, and reported.
        case reported
        /// It is read before anything is sent on. A tunnel in which it is not the host that the program has
        /// named to the proxy, or begins like TLS and cannot be read, ends with an alert. What does not begin
        /// like TLS, or has no name, passes. So it is with the second ClientHello that a server may ask for;
        /// one that is sent encrypted later on cannot be seen.
        case matching
    }

    /// How much of everything there may be.
    public struct Limits: Hashable, Sendable {
        /// Tunnels at a time, those that are dialled included. Each takes two descriptors.
        public var tunnels = 10_000
        /// Programs at a time that have not sent a request with credentials yet, but at most a quarter of
        /// the descriptors. The next one ends the one that has waited longest.
        public var waiting = 512
        /// The bytes of a request's head.
        public var headBytes = 64 << 10
        /// The time until the head of a request is complete.
        public var head: Duration = .seconds(10)
        /// The time to find an address and to connect.
        public var dial: Duration = .seconds(30)
        /// The time without a byte after which a tunnel ends.
        public var idle: Duration = .seconds(3600)
        /// The same once the program has ended its sending: most are gone then.
        public var halfClosed: Duration = .seconds(60)
        /// The time that ``LocalProxy/stop()`` leaves to the tunnels.
        public var drain: Duration = .seconds(5)

        /// Makes the default limits.
        public init() {}
    }

    /// What a proxy tells.
    @nonexhaustive
    public enum Event: Sendable {
        /// A tunnel has ended, or was refused.
        case ended(TunnelReport)
        /// No connection can be accepted for a moment: the system has no descriptor or no memory for it.
        case paused(SystemError)
        /// It listens anew, at another port unless the settings name one, and with new credentials: the
        /// system had ended the listening, as it does to an app that it suspends. The tunnels have ended.
        case restarted
        /// It does not listen any more: the system had ended the listening, and it cannot listen anew.
        case failed(LocalProxyError)
    }
}

/// Why a proxy does not start.
@nonexhaustive
public enum LocalProxyError: Error, Hashable, Sendable {
    /// The address reaches beyond this machine, and the settings do not say that it may.
    case beyondLoopback(Endpoint)
    /// The address is none, or none of this machine.
    case address(AddressError)
    /// It cannot listen there: another program does, or the user may not.
    case listen(Endpoint, SystemError)
    /// There is no address to listen at.
    case noAddress
}

extension LocalProxyError: CustomStringConvertible {
    /// The error in one line, with the remedy.
    public var description: String {
        switch self {
        case .beyondLoopback(let endpoint):
            "\(endpoint) is reached by other machines; listen on 127.0.0.1 or [::1], or set listensBeyondLoopback"
        case .address(let error): "the address to listen at: \(error)"
        case .listen(let endpoint, let error):
            "cannot listen at \(endpoint): \(error); choose another port, or none"
        case .noAddress: "there is no address to listen at"
        }
    }
}
