internal import DirectCore
internal import DirectIO

/// The messages of SOCKS version 5 (RFC 1928) and of its user name and password authentication (RFC 1929),
/// without I/O.
package struct SOCKSMessages {
    let credentials: Proxy.Credentials?

    /// Returns the greeting, which offers the authentication methods.
    func greeting() throws(ProxyError) -> [UInt8] {
        guard let credentials else { return [Self.version, 1, Method.none] }
        guard (1...255).contains(credentials.userBytes.count),
            (1...255).contains(credentials.passwordBytes.count)
        else { throw .unfitCredentials }
        return [Self.version, 2, Method.none, Method.password]
    }

    /// Returns whether the proxy chose authentication with user name and password.
    func wantsCredentials(_ selection: [UInt8]) throws(ProxyError) -> Bool {
        guard selection.count == 2, selection[0] == Self.version else { throw .notAProxy(nil) }
        switch selection[1] {
        case Method.none: return false
        case Method.password where credentials != nil: return true
        default: throw .noCommonMethod
        }
    }

    /// Returns the message with user name and password. `greeting` has checked their lengths.
    func authentication() -> [UInt8] {
        guard let credentials else { return [] }
        let (user, password) = (credentials.userBytes, credentials.passwordBytes)
        return [1, UInt8(truncatingIfNeeded: user.count)] + user
            + [UInt8(truncatingIfNeeded: password.count)] + password
    }

    /// Checks the reply to user name and password.
    func checkAuthentication(_ answer: [UInt8]) throws(ProxyError) {
        guard answer.count == 2, answer[0] == 1 else { throw .notAProxy(nil) }
        guard answer[1] == 0 else { throw .wrongCredentials }
    }

    /// Returns the request to connect.
    func request(for target: ProxyTarget) throws(ProxyError) -> [UInt8] {
        var bytes: [UInt8] = [Self.version, Self.connect, 0]
        if let address = target.address {
            bytes.append(address.family == .v4 ? Kind.v4 : Kind.v6)
            bytes += address.bytes
        } else if case .host(.name(let name), _) = target {
            // A client once wrote past its buffer here (CVE-2023-38545).
            guard let length = UInt8(exactly: name.bytes.count) else { throw .nameTooLong }
            bytes += [Kind.name, length]
            bytes += name.bytes
        }
        return bytes + [UInt8(truncatingIfNeeded: target.port >> 8), UInt8(truncatingIfNeeded: target.port)]
    }

    /// Returns the number of bytes that follow the first five of a reply. Throws if the reply is not a
    /// success.
    func remainingLength(after head: [UInt8]) throws(ProxyError) -> Int {
        guard head.count == 5, head[0] == Self.version else { throw .notAProxy(nil) }
        guard head[1] == 0 else { throw .socksReply(head[1]) }
        // An address without the byte that has been read already, or a name without its length, and a port.
        switch head[3] {
        case Kind.v4: return 3 + 2
        case Kind.v6: return 15 + 2
        case Kind.name: return Int(head[4]) + 2
        default: throw .notAProxy(nil)
        }
    }

    package static let version: UInt8 = 5
    package static let connect: UInt8 = 1

    package enum Method {
        package static let none: UInt8 = 0
        package static let password: UInt8 = 2
    }

    package enum Kind {
        package static let v4: UInt8 = 1
        package static let name: UInt8 = 3
        package static let v6: UInt8 = 4
    }
}
