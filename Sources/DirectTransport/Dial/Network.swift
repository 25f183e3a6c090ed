package import DirectCore
package import DirectIO

/// The parts of the network that dialling uses. Tests replace them.
package struct Network: Sendable {
    /// Starts to connect a socket.
    package var connect:
        @Sendable (IPAddress, UInt16, SocketOptions, EventLoop) throws(Socket.StartFailure) -> Socket = {
            address,
            port,
            options,
            loop throws(Socket.StartFailure) in
            try Socket.connecting(to: address, port: port, options: options, on: loop, sparesReserve: true)
        }
    var shortage = DescriptorShortage()
    let translators: Translators

    /// - Parameter lookups: The queries to the system's resolver; `nil` for those of the process, which a
    ///   program that gives addresses never needs.
    package init(_ lookups: SystemLookups? = nil) {
        translators = Translators(lookups)
    }

    /// The queries to the system's resolver, whatever they are for.
    package var lookups: SystemLookups { translators.lookups }

    /// Forgets what is known of the network that the machine was in.
    func forgetAll() {
        lookups.forgetAll()
        translators.forgetAll()
    }
}

extension Network {
    /// Starts to connect a socket.
    package func socket(
        to address: IPAddress,
        port: UInt16,
        options: SocketOptions = SocketOptions(),
        on loop: EventLoop
    ) throws(TransportError) -> Socket {
        try started { () throws(Socket.StartFailure) in try connect(address, port, options, loop) }
    }

    /// Starts to connect to a Unix domain socket.
    func socket(to path: UnixSocketPath, on loop: EventLoop) throws(TransportError) -> Socket {
        try started { () throws(Socket.StartFailure) in
            try Socket.connecting(to: path, on: loop, sparesReserve: true)
        }
    }

    @inline(never)
    private func started(
        _ start: () throws(Socket.StartFailure) -> Socket
    ) throws(TransportError) -> Socket {
        do throws(Socket.StartFailure) {
            return try start()
        } catch {
            switch error {
            case .address(let error): throw .failed(.connect, .address(error))
            case .system(let error): throw .failed(.connect, .system(error))
            }
        }
    }
}

/// Access to IPv4 addresses on a network that has only IPv6. Only clients that may ask the system's resolver
/// have it.
struct Translation: Sendable {
    let translators: Translators
    /// The vetting, which checks the translated addresses as well: they are the ones that are dialled.
    let vetting: AddressVetting?
}

/// The NAT64 translators of the network, as far as DNS reveals them (RFC 7050).
final class Translators: Sendable {
    private struct Known {
        var prefixes: [NAT64Prefix]
        var expiry: Instant
    }

    private let given: SystemLookups?
    private let known = Locked<Known?>(nil)

    /// - Parameter lookups: The queries to the system's resolver; `nil` for those of the process.
    init(_ lookups: SystemLookups?) {
        given = lookups
    }

    /// The queries to the system's resolver.
    var lookups: SystemLookups { given ?? .shared }

    /// Returns the addresses to dial in place of an IPv4 address to which there is no route.
    func addresses(
        for address: IPAddress,
        _ deadline: Deadline,
        on loop: EventLoop
    ) async throws(TransportError) -> [IPAddress] {
        try await prefixes(deadline, on: loop).compactMap { $0.synthesizedAddress(for: address) }
    }

    /// Forgets the translators; the next use asks for them again.
    func forgetAll() {
        known.withLock { $0 = nil }
    }

    private func prefixes(_ deadline: Deadline, on loop: EventLoop) async throws(TransportError)
        -> [NAT64Prefix]
    {
        let now = loop.now
        if let known = known.withLock({ $0 }), known.expiry > now { return known.prefixes }
        let answer: SystemLookups.Answer
        do throws(BlockingWork.Abandoned) {
            answer = try await lookups.addresses(
                of: "ipv4only.arpa",
                until: deadline.instant,
                on: loop
            )
        } catch {
            throw error == .cancelled ? .cancelled : deadline.timeout
        }
        var prefixes: [NAT64Prefix] = []
        if case .success(let addresses) = answer {
            for prefix in addresses.compactMap(NAT64Prefix.init(discoveredIn:))
            where !prefixes.contains(prefix) {
                prefixes.append(prefix)
            }
        }
        let time = prefixes.isEmpty ? Self.timeWithoutAnswer : Self.timeOfAnswer
        let news = Known(prefixes: prefixes, expiry: loop.now.advanced(byNanoseconds: time))
        known.withLock { $0 = news }
        return prefixes
    }

    /// The cache time is short, because a machine may move to another network.
    private static let timeOfAnswer: UInt64 = 60_000_000_000
    private static let timeWithoutAnswer: UInt64 = 10_000_000_000
}
