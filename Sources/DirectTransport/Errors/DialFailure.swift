package import DirectCore
internal import DirectIO
package import DirectTLS

/// The failure of a request up to the head of its response: the reason, the endpoint, and the addresses that
/// were tried before. A class, because each function that may throw it would need the room for it.
package final class DialFailure: Error {
    /// The reason that decided.
    package let cause: TransportError
    /// The endpoint that the reason belongs to, if it belongs to one.
    package let endpoint: Endpoint?
    /// The failed attempts, in the order in which they began.
    package let attempts: [FailedAttempt]
    /// The certificates that the server sent; `nil` if the failure is not about them.
    package let certificates: CertificateChain?

    /// Makes a value of its parts.
    @inline(never)
    package init(
        cause: TransportError,
        endpoint: Endpoint? = nil,
        attempts: [FailedAttempt] = [],
        certificates: CertificateChain? = nil
    ) {
        self.cause = cause
        self.endpoint = endpoint
        self.attempts = attempts
        self.certificates = certificates
    }
}

/// The failure of one connection attempt.
package struct AttemptFailure: Error {
    /// The consequence of the failure for the other addresses.
    package enum Consequence {
        /// The other addresses may do better and are tried.
        case tryNext
        /// The server was reached and has the wrong certificate. By default no other address is tried: the
        /// network works, and trying on would hide the fault.
        case onCertificateMismatch
        /// No address would do better: the fault is on this side.
        case stop
    }

    /// The phase that the attempt had reached, also if it was cancelled there.
    package let phase: TransportError.Phase
    package let cause: TransportError
    var consequence = Consequence.tryNext
    /// The certificates that the server sent; `nil` if the failure is not about them.
    var certificates: CertificateChain?
    /// The failure to reach the proxy, with the proxy's addresses; `nil` if the attempt came as far as to use
    /// its own.
    var atProxy: DialFailure?

    /// Whether the failure says something about the attempt's address, and not about this side or the proxy.
    var concernsAddress: Bool {
        guard atProxy == nil, consequence != .stop, !isOfThisSide else { return false }
        guard case .failed(.proxy, let reason) = cause else { return true }
        // A proxy that answers nonsense, or breaks off, says nothing about the address that it was to connect
        // to.
        return switch reason {
        case .proxy(.refused), .proxy(.socksReply), .timedOut, .refused: true
        default: false
        }
    }

    /// Whether the socket could not even leave this machine: for want of a descriptor or a port, or because
    /// it is bound to a place of the other family.
    private var isOfThisSide: Bool {
        if case .failed(_, .tls(.encryptedClientHelloUnavailable)) = cause { return true }
        return systemError?.isOfThisSide ?? isDescriptorShortage
    }

    /// The failed system call, if that is the cause.
    private var systemError: SystemError? {
        if case .failed(_, .system(let error)) = cause { error } else { nil }
    }

    /// Returns a failure for this reason.
    package static func failed(
        _ phase: TransportError.Phase,
        reason: TransportError.Reason,
        consequence: Consequence = .tryNext
    ) -> AttemptFailure {
        AttemptFailure(phase: phase, cause: .failed(phase, reason), consequence: consequence)
    }

    /// Whether there is no route to the address.
    package var meansNoRoute: Bool { systemError?.meansNoRoute ?? false }

    /// Whether the queue of a server at a Unix domain socket is full.
    var meansFullBacklog: Bool { systemError?.meansFullBacklog ?? false }

    /// Whether the address was not even tried because of a lack of descriptors, which says nothing about the
    /// address.
    package var isDescriptorShortage: Bool { cause.isDescriptorShortage }

    /// Whether the attempt was cancelled.
    var isCancellation: Bool { cause.isCancellation }
}

extension TLSError {
    /// The consequence for the other addresses: whether the server was reached and is the wrong one, or the
    /// fault is on this side.
    package var consequence: AttemptFailure.Consequence {
        switch self {
        case .certificateRejected, .nameMismatch, .keyNotPinned, .rejectedByVerifier, .staple,
            .noPeerCertificate:
            .onCertificateMismatch
        case .uncheckableHost, .badSettings, .wrongPassphrase, .encryptedClientHelloUnavailable: .stop
        default: .tryNext
        }
    }
}

/// A failed attempt at an address.
package struct FailedAttempt: Sendable {
    /// The endpoint that was tried.
    package let endpoint: Endpoint
    /// The source of its address.
    package let source: AddressSource
    /// The phase in which the attempt failed, and the reason.
    package let phase: TransportError.Phase
    package let reason: TransportError.Reason
    /// The certificates that the server sent; `nil` if the failure is not about them.
    package let certificates: CertificateChain?
    /// The time from the attempt's first step to its failure.
    package let elapsed: Duration
}

extension FailedAttempt {
    /// Whether this client does not allow the address.
    var isRefusal: Bool { if case .refused = reason { true } else { false } }
    var isTimeout: Bool { if case .timedOut = reason { true } else { false } }
}
