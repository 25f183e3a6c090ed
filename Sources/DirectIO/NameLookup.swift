#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A name that the system's resolver did not turn into addresses.
public struct LookupError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The value of `getaddrinfo`, such as `EAI_NONAME`.
    public let code: Int32
    /// `errno`, where the code says that it holds the reason.
    public let systemCode: Int32

    /// Whether the resolver has answered, and the answer is that there is none.
    package var saysNone: Bool {
        #if canImport(Darwin)
        code == EAI_NONAME || code == EAI_NODATA
        #else
        // EAI_NODATA, which Glibc shows only to GNU programs.
        code == EAI_NONAME || code == -5
        #endif
    }

    public var description: String {
        if code == EAI_SYSTEM { return SystemError.text(of: systemCode) }
        guard let words = gai_strerror(code) else { return "resolver error \(code)" }
        return String(cString: words)
    }
}

/// Asks the system's resolver, and blocks until it answers: both families, in its order (RFC 6724).
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
