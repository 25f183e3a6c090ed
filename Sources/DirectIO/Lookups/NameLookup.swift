#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
package import DirectCore

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
/// - Returns: The addresses of both families, in the resolver's order (RFC 6724), without duplicates.
package func lookUp(_ name: String) -> Result<[IPAddress], LookupError> {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
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
    guard !addresses.isEmpty else { return .failure(LookupError(code: EAI_NONAME, systemCode: 0)) }
    return .success(addresses)
}

extension LookupError {
    /// Whether the lookup failed because no descriptor was free.
    package var isDescriptorShortage: Bool {
        code == EAI_SYSTEM && (systemCode == EMFILE || systemCode == ENFILE)
    }
}
