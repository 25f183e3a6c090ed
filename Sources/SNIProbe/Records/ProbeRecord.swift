internal import DirectHTTP

/// One result: what was seen of a probe, what it means, and what to do.
struct ProbeRecord: Sendable {
    let observation: Observation
    var faults: [Fault] = []
    var warnings: [Warning] = []
    var hint: Hint?
    var sni: SNIFinding
    /// Why the resolver gave no address; there is then nothing else.
    var lookupFailure: String?
    /// The target, also where no address was found for it.
    let target: ProbeTarget
    /// Seconds since 1970, when it was judged.
    let judgedAt: Int

    var passed: Bool { faults.isEmpty }
    var exitCode: Int32 { faults.first.map { ExitCode.code(for: $0.id) } ?? ExitCode.passed }

    /// What the server showed in the handshake that counts.
    var served: Handshake.Served? {
        if case .success(let served)? = observation.first?.outcome { served } else { nil }
    }

    var leaf: ServedCertificate? { served?.chain.leaf }

    /// Whole days until the certificate expires, below zero if it has.
    var daysLeft: Int? {
        leaf?.summary.notAfter.map { UTC.floored($0 - judgedAt, 86_400) }
    }

    /// The name in the certificate that proves the host.
    var matchedName: String? {
        guard let identity = try? target.identity else { return nil }
        return served?.chain.match(identity)
    }

    /// The alert that ended the handshake that counts.
    var alert: UInt8? {
        if case .alert(let number)? = observation.refusedFirst { number } else { nil }
    }
}

/// What sending the name does at this address.
struct SNIFinding: Hashable, Sendable {
    enum Verdict: String, CaseIterable, Sendable {
        /// Without the name another certificate comes, which is not for the host.
        case needed
        /// Without the name the handshake is refused.
        case neededStrict = "needed_strict"
        /// The same with and without.
        case noDifference = "no_difference"
        /// Another certificate without, which is for the host as well.
        case changesCertificate = "changes_certificate"
        /// Another certificate without, and the one with the name is not for the host.
        case selectsWrong = "selects_wrong"
        /// The name is refused, and without one the server answers.
        case refused
        case unknown
    }

    /// The name that was sent in the handshake that counts.
    var sent: String?
    var verdict: Verdict
}
