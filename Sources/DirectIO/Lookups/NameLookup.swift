#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
internal import DirectCore

/// An error of the system's resolver.
public struct LookupError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The return value of `getaddrinfo`, such as `EAI_NONAME`.
    public let code: Int32
    /// The value of `errno`, if `code` is `EAI_SYSTEM`.
    public let systemCode: Int32

    /// Whether the resolver answered that the name has no addresses.
    package var saysNone: Bool {
        #if canImport(Darwin)
        code == EAI_NONAME || code == EAI_NODATA
        #else
        // EAI_NODATA, which glibc declares only for GNU programs.
        code == EAI_NONAME || code == -5
        #endif
    }

    /// The error text of the C library.
    public var description: String {
        if code == EAI_SYSTEM { return errnoText(systemCode) }
        guard let words = gai_strerror(code) else { return "resolver error \(code)" }
        return String(cString: words)
    }
}

/// Looks up a name with the system's resolver and blocks until it answers.
///
/// - Parameter family: The family to ask for; `nil` for both.
/// - Returns: The addresses, in the resolver's order (RFC 6724), without duplicates.
func lookUp(_ name: String, family: IPAddress.Family? = nil) -> Result<[IPAddress], LookupError> {
    var hints = addrinfo()
    hints.ai_family =
        switch family {
        case nil: AF_UNSPEC
        case .v4: AF_INET
        case .v6: AF_INET6
        }
    #if canImport(Darwin)
    hints.ai_socktype = SOCK_STREAM
    #else
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    #endif
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(name, nil, &hints, &list)
    guard code == 0 else { return .failure(LookupError(code: code, systemCode: errno)) }
    defer { freeaddrinfo(list) }
    var addresses: [IPAddress] = []
    var entry = list
    while let info = entry {
        if let pointer = info.pointee.ai_addr, let address = IPAddress(socketAddress: pointer),
            !addresses.contains(address)
        {
            addresses.append(address)
        }
        entry = info.pointee.ai_next
    }
    guard !addresses.isEmpty else { return .failure(.noSuchName) }
    return .success(addresses)
}

extension LookupError {
    /// The answer that there is no such name.
    static let noSuchName = LookupError(code: EAI_NONAME, systemCode: 0)

    /// The error of a call that was not made, for want of a thread.
    init(_ refusal: SystemError) {
        self.init(code: EAI_SYSTEM, systemCode: refusal.code)
    }

    /// Whether the lookup failed because no descriptor was free.
    package var isDescriptorShortage: Bool {
        code == EAI_SYSTEM && (systemCode == EMFILE || systemCode == ENFILE)
    }
}
