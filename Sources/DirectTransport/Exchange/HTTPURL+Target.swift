package import DirectCore
package import DirectHTTP1

extension HTTPURL {
    /// Returns the target of a request's first line and the authority in its Host field, in the form that the
    /// method and the recipient need (RFC 9112, section 3.2).
    ///
    /// - Parameter isForwarded: Whether a proxy gets the whole request and forwards it.
    @inline(__always)
    package func targetAndAuthority(of method: HTTPMethod, isForwarded: Bool)
        -> (target: [UInt8], authority: [UInt8])
    {
        if method.isConnect { return (tunnelBytes, tunnelBytes) }
        return (isForwarded ? absoluteTargetBytes : targetBytes, authorityBytes)
    }

    /// The absolute form, for a request to a proxy (RFC 9112, section 3.2.2).
    private var absoluteTargetBytes: [UInt8] { Array("http://".utf8) + authorityBytes + targetBytes }

    /// The target of a tunnel: host and port, even the default one (RFC 9110, section 9.3.6).
    private var tunnelBytes: [UInt8] {
        port == scheme.defaultPort ? authorityBytes + Array(":\(port)".utf8) : authorityBytes
    }
}
