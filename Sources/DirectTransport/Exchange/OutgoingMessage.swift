package import DirectCore
package import DirectHTTP1

/// What is written to the connection.
package struct OutgoingMessage: ~Copyable {
    package let method: HTTPMethod
    /// The request's own fields, without those that the writer derives from the URL and the body.
    package let headers: HTTPHeaders
    /// Fields that are sent unless `headers` has fields of these names.
    package let defaults: HTTPHeaders
    package let body: BodyContent
    /// Options that few requests set; `nil` for none.
    package let options: ExchangeOptions.Box?

    /// Makes a value of its parts.
    @inline(__always)
    package init(
        _ method: HTTPMethod,
        headers: HTTPHeaders,
        defaults: HTTPHeaders = HTTPHeaders(),
        body: BodyContent = .none,
        options: ExchangeOptions.Box? = nil
    ) {
        self.method = method
        self.headers = headers
        self.defaults = defaults
        self.body = body
        self.options = options
    }

    /// The head's announcements about the body and the connection.
    var announcements: RequestHead.Announcements { options?.options.announcements ?? .init() }

    /// Whether the request may be sent twice.
    var mayBeSentTwice: Bool { method.mayBeSentTwice(with: body) }

    /// Whether the request, which was sent once or in part, may be sent again.
    var mayBeSentAgain: Bool { method.mayBeSentAgain(with: body) }
}

extension OutgoingMessage {
    /// Returns the head as it is sent to a server, or to a proxy that forwards it.
    func head(to url: HTTPURL, isProxied: Bool, as forwarding: Forwarding?) -> RequestHead {
        let (target, authority) = url.targetAndAuthority(of: method, isForwarded: forwarding != nil)
        var headers = headers
        // Without a proxy of the client's, the recipient of a CONNECT is the caller's proxy (RFC 9110,
        // section 9.3.6).
        if isProxied || !method.isConnect && headers.index(of: "proxy-authorization") != nil {
            headers.addressProxy(forwarding)
        }
        return RequestHead(method, target: target, authority: authority, headers: headers, extra: defaults)
    }
}

extension RequestHead {
    /// Writes the head to a buffer, and returns its length.
    func write(
        _ phase: TransportError.Phase = .request,
        framing: BodyFraming = .none,
        announcing announced: Announcements = .init(),
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(TransportError) -> Int {
        do throws(HTTP1Error) {
            return try unsafe RequestWriter.writeHead(
                self,
                framing: framing,
                announcing: announced,
                into: buffer
            )
        } catch {
            throw .failed(phase, .http(error))
        }
    }
}

extension HTTPHeaders {
    /// Sends proxy credentials to a proxy only: not to a server behind one, and not without one.
    fileprivate mutating func addressProxy(_ forwarding: Forwarding?) {
        let name = "Proxy-Authorization"
        if forwarding == nil || forwarding?.authorization != nil { remove(name) }
        if let authorization = forwarding?.authorization { add(name, authorization) }
    }
}

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

/// The head of a request, and the framing that it announces.
final class WrittenHead {
    let bytes: [UInt8]
    let framing: BodyFraming

    /// Writes the head: the writer checks every byte of it.
    init(_ head: RequestHead, framing: BodyFraming, announcing announced: RequestHead.Announcements)
        throws(TransportError)
    {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: head.sizeBound, alignment: 1)
        defer { unsafe buffer.deallocate() }
        let count = try unsafe head.write(framing: framing, announcing: announced, into: buffer)
        bytes = unsafe [UInt8](UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        self.framing = framing
    }
}
