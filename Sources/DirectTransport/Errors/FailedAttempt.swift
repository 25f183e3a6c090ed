package import DirectCore
package import DirectTLS

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
