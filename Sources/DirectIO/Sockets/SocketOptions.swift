public import DirectCore

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The place on this machine that connections leave from.
public enum LocalBinding: Hashable, Sendable {
    /// This address of the machine. Only addresses of the same family can be reached from it; attempts at
    /// others fail.
    case address(IPAddress)
    /// This network interface, by its name, such as `eth0`. On Linux before 5.7 it takes the capability
    /// `CAP_NET_RAW`.
    case interface(String)
}

/// The probes with which the system notices a peer that is gone, on connections without data (RFC 9293,
/// section 3.8.4).
///
/// Times are whole seconds, from 1 to 32,767; others are rounded up, or moved to the nearest of these.
public struct TCPKeepAlive: Hashable, Sendable {
    /// The time without data before the first probe.
    public var idle: Duration
    /// The time between probes.
    public var interval: Duration
    /// The number of unanswered probes after which the connection is broken, from 1 to 127.
    public var count: Int

    /// Makes settings.
    public init(idle: Duration, interval: Duration, count: Int) {
        self.idle = idle
        self.interval = interval
        self.count = count
    }

    /// The seconds as the system takes them.
    static func seconds(_ duration: Duration) -> Int32 {
        let (seconds, rest) = duration.components
        return Int32(min(max(min(seconds, 32_767) + (rest > 0 ? 1 : 0), 1), 32_767))
    }
}

/// The options of a socket that are set before it connects.
package struct SocketOptions: Hashable, Sendable {
    /// The place to leave from; `nil` leaves the choice to the system.
    package var local: LocalBinding?
    /// The keep-alive probes; `nil` for none.
    package var keepAlive: TCPKeepAlive?

    /// Makes options that set nothing.
    package init(local: LocalBinding? = nil, keepAlive: TCPKeepAlive? = nil) {
        self.local = local
        self.keepAlive = keepAlive
    }

    /// Sets the options of a socket that will connect to an address of this family.
    func apply(to descriptor: Int32, family: IPAddress.Family) throws(Socket.StartFailure) {
        keepAlive?.apply(to: descriptor)
        switch local {
        case .address(let address): try Self.bind(descriptor, to: address, family: family)
        case .interface(let name):
            do throws(SystemError) {
                try Self.bind(descriptor, toInterface: name, family: family)
            } catch {
                throw .system(error)
            }
        case nil: break
        }
    }

    private static func bind(
        _ descriptor: Int32,
        to address: IPAddress,
        family: IPAddress.Family
    ) throws(Socket.StartFailure) {
        guard address.family == family else { throw .system(SystemError("bind", code: EAFNOSUPPORT)) }
        #if os(Linux)
        // The port is chosen on connecting, when the peer is known: one port serves many peers.
        set(descriptor, level: Int32(IPPROTO_IP), option: IP_BIND_ADDRESS_NO_PORT, to: 1)
        #endif
        let code: Int32
        do throws(AddressError) {
            code = try address.withSocketAddress(port: 0) { pointer, length in
                retryingInterrupts { bindSocket(descriptor, pointer, length) }.code
            }
        } catch {
            throw .address(error)
        }
        guard code == 0 else { throw .system(SystemError("bind", code: code)) }
    }

    private static func bind(
        _ descriptor: Int32,
        toInterface name: String,
        family: IPAddress.Family
    ) throws(SystemError) {
        let bytes = Array(name.utf8)
        // The system would cut a longer name off, and take an empty one for "no interface".
        guard !bytes.isEmpty, bytes.count < Int(IF_NAMESIZE), !bytes.contains(0) else {
            throw SystemError("setsockopt", code: ENODEV)
        }
        #if os(Linux)
        _ = try checked("setsockopt") {
            setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, bytes, socklen_t(bytes.count))
        }
        #else
        var index = if_nametoindex(name)
        guard index > 0 else { throw SystemError("if_nametoindex", code: ENXIO) }
        let level = family == .v4 ? IPPROTO_IP : IPPROTO_IPV6
        let option = family == .v4 ? IP_BOUND_IF : IPV6_BOUND_IF
        _ = try checked("setsockopt") {
            setsockopt(descriptor, level, option, &index, socklen_t(MemoryLayout<UInt32>.size))
        }
        #endif
    }

    static func set(_ descriptor: Int32, level: Int32, option: Int32, to value: Int32 = 1) {
        var value = value
        _ = setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}

extension TCPKeepAlive {
    fileprivate func apply(to descriptor: Int32) {
        let level = Int32(IPPROTO_TCP)
        SocketOptions.set(descriptor, level: SOL_SOCKET, option: SO_KEEPALIVE)
        #if canImport(Darwin)
        SocketOptions.set(descriptor, level: level, option: TCP_KEEPALIVE, to: Self.seconds(idle))
        #else
        SocketOptions.set(descriptor, level: level, option: TCP_KEEPIDLE, to: Self.seconds(idle))
        #endif
        SocketOptions.set(descriptor, level: level, option: TCP_KEEPINTVL, to: Self.seconds(interval))
        SocketOptions.set(
            descriptor,
            level: level,
            option: TCP_KEEPCNT,
            to: Int32(min(max(count, 1), 127))
        )
    }
}

/// The C function, under a name that no method hides.
private func bindSocket(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32
{
    bind(descriptor, address, length)
}
