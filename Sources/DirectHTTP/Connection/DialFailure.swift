internal import DirectIO
internal import DirectTLS

/// Why no connection could be made, and where that was tried.
struct DialFailure: Error {
    var cause: CallFailure
    var endpoint: Endpoint?
    var attempts: [Attempt] = []
}

/// Why one address did not do.
struct AttemptFailure: Error {
    /// What this failure means for the other addresses.
    enum Consequence {
        /// They may do better.
        case tryNext
        /// The server was reached and is the wrong one. Unless told otherwise nobody else is asked: the network
        /// is fine, and trying on would hide what is not.
        case wrongServer
        /// No address would do better: the fault is ours.
        case stop
    }

    /// How far it came, also when it was cancelled there.
    let phase: HTTPError.Phase
    let cause: CallFailure
    var consequence = Consequence.tryNext

    /// A failure for this reason.
    static func failed(
        _ phase: HTTPError.Phase,
        _ reason: HTTPError.Reason,
        _ consequence: Consequence = .tryNext
    ) -> AttemptFailure {
        AttemptFailure(phase: phase, cause: .failed(phase, reason), consequence: consequence)
    }

    /// Whether there is no way at all to the address.
    var meansNoRoute: Bool {
        if case .failed(_, .system(let error)) = cause { error.meansNoRoute } else { false }
    }

    /// Whether the address was not even tried, as no descriptor was to be had: that says nothing about it.
    var meansNoDescriptors: Bool { cause.meansNoDescriptors }

    var isCancellation: Bool {
        if case .cancelled = cause { true } else { false }
    }
}

extension TLSError {
    /// Whether the server was reached and is the wrong one, or whether we are at fault ourselves.
    var consequence: AttemptFailure.Consequence {
        switch self {
        case .certificateRejected, .nameMismatch, .keyNotPinned, .noPeerCertificate: .wrongServer
        case .badIdentity, .badSettings: .stop
        default: .tryNext
        }
    }
}
