package import DirectCore
package import DirectHTTP1
package import DirectIO
package import DirectTLS

/// The failure of a request on its way to the server and back: the phase, and the reason.
///
/// It names no request and no client. Where a failure leaves the transport, it becomes the caller's
/// `HTTPError`, or a `CancellationError`.
package enum TransportError: Error {
    case cancelled
    case failed(Phase, Reason)

    /// The phase in which a request failed.
    package enum Phase: Hashable, Sendable {
        /// Nothing has been sent: the request is invalid, or its deadline had passed.
        case request
        /// Resolving the name.
        case resolve
        /// Waiting in the queue for a connection.
        case queue
        /// Connecting to a proxy and asking it for the tunnel.
        case proxy
        /// Connecting to an address.
        case connect
        /// The TLS handshake, with all checks of the certificate.
        case tls
        /// Sending the request.
        case write
        /// Waiting for the head of the response and receiving it.
        case response
        /// Receiving the body of the response.
        case body
    }

    /// The reason of a failure.
    /// Indirect, because each function that may throw it would need the room for it.
    package indirect enum Reason: Error, Sendable {
        /// An address is invalid.
        case address(AddressError)
        /// The list of addresses is empty.
        case noAddresses
        /// The system's resolver failed.
        case lookup(LookupError)
        /// The resolver that chose the addresses failed; the error is its own.
        case resolver(any Error)
        /// The vetting refused the address.
        case refused(AddressRefusal)
        /// A system call failed.
        case system(SystemError)
        /// The attempt was abandoned, because the attempt at another address settled the matter first.
        case overtaken
        /// The TLS handshake or the TLS connection failed.
        case tls(TLSError)
        /// The proxy failed, or it refused to connect to the server.
        case proxy(ProxyError)
        /// The peer, or the request, violated the syntax of HTTP/1.1.
        case http(HTTP1Error)
        /// The phase, or the request as a whole, took longer than this limit.
        case timedOut(after: Duration)
        /// The peer closed the connection before the response was complete.
        case connectionClosed
        /// The request's body has more or fewer bytes than announced.
        case bodyLength(announced: UInt64, given: UInt64)
        /// The source of the request's body failed.
        case bodySource(any Error)
        /// The request's body cannot be sent.
        case requestBody(RequestBodyError)
        /// Fewer bytes were received or sent than the minimum speed requires.
        case tooSlow(Timeouts.Speed)
        /// Settings of the request make no sense together, or where they are set.
        case settings(ConnectionSettingsError)
        /// The stream was closed on this side, or its writing side has ended.
        case streamClosed
    }
}

extension TransportError {
    /// Whether a time limit was exceeded.
    var isTimeout: Bool {
        if case .failed(_, .timedOut) = self { true } else { false }
    }

    /// Whether the task was cancelled.
    var isCancellation: Bool {
        if case .cancelled = self { true } else { false }
    }
}
