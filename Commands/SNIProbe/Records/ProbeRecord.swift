internal import DirectCore
internal import DirectHTTP

/// The result of one probe: the observation, the faults and warnings, and a hint.
struct ProbeRecord: Sendable {
    let observation: Observation
    var faults: [Fault] = []
    var warnings: [Warning] = []
    var hint: Hint?
    var sni: SNIFinding
    /// The settings by which it was judged.
    var settings = ProbeSettings()
    /// The replies of the resolvers that `--resolver` names.
    var replies: HostReplies?
    /// The relation to the result of an earlier run; `nil` without `--baseline`.
    var change: Baseline.Change?
    /// The reason why the name was not resolved. If it is set, no handshake was made.
    var lookupFailure: String?
    /// The target. It is known even if its name was not resolved.
    let target: ProbeTarget
    /// The time of the judgement in seconds since 1970.
    let judgedAt: Int

    /// The address; `nil` if the name was not resolved, or nothing was connected to.
    var address: IPAddress? { lookupFailure == nil && checkedFile == nil ? observation.probe.address : nil }

    /// The file whose certificates are judged; `nil` for a probe.
    var checkedFile: String? {
        if case .checked(let file) = observation.probe.source { file } else { nil }
    }

    /// The resolver whose failure this is, if there are several; `nil` for a probe.
    var failedResolver: String? {
        guard lookupFailure != nil, case .resolvers(let names) = observation.probe.source else { return nil }
        return names.first
    }

    /// The name in SNI, if it is not that of the host.
    var otherNameSent: String? { sni.sent == target.host.name?.text ? nil : sni.sent }

    /// What distinguishes this record from others of the run, and is the same in the next one.
    var key: String {
        Self.key(
            target.name,
            ip: address?.description ?? "",
            port: Int(observation.probe.port),
            url: target.url.map { "\($0)" } ?? "",
            resolver: failedResolver ?? ""
        )
    }

    static func key(_ host: String, ip: String, port: Int, url: String, resolver: String) -> String {
        [host, ip, "\(port)", url, resolver].joined(separator: "\n")
    }

    /// Adds a fault.
    mutating func fail(_ id: Fault.ID, _ text: String, brief: String? = nil) {
        faults.append(Fault(id, text, brief: brief))
    }

    /// Adds a warning.
    mutating func warn(_ id: Warning.ID, _ text: String) {
        warnings.append(Warning(id: id, text: text))
    }

    var state: ResultState { ResultState(passed: passed, warns: !warnings.isEmpty) }

    /// Whether there are no faults.
    var passed: Bool { faults.isEmpty }
    /// The exit code for this probe alone.
    var exitCode: Int32 { faults.first.map { $0.id.row.exitCode } ?? ExitCode.passed }

    /// The certificates and parameters of the first handshake, if it succeeded.
    var served: Handshake.Served? { observation.first?.served }

    /// The server's own certificate.
    var leaf: ServedCertificate? { served?.chain.leaf }

    /// The whole days until the certificate expires. Negative if it has expired.
    var daysLeft: Int? {
        leaf?.daysLeft(at: judgedAt)
    }

    /// The first end of all chains that handshakes like the first got.
    var chainEnd: ExaminedChain.End? {
        observation.answers.compactMap(\.chain.end).min { $0.notAfter < $1.notAfter }
    }

    /// The name in the certificate that matches the host, or `nil` if none does.
    var matchedName: String? {
        guard let identity = try? target.identity else { return nil }
        return served?.chain.match(identity)
    }

    /// The alert that ended the first handshake.
    var alert: TLSAlert? {
        if case .alert(let alert)? = observation.firstFailure { alert } else { nil }
    }
}

/// The effect of SNI at one address.
struct SNIFinding: Hashable, Sendable {
    /// The result of comparing the handshakes with and without SNI.
    enum Verdict: String, CaseIterable, Sendable {
        /// With SNI the certificate is right. Without SNI another one is sent, which is not for the host.
        case needed
        /// With SNI the certificate is right. Without SNI the handshake is refused.
        case neededStrict = "needed_strict"
        /// The same certificate is sent, or both handshakes are refused.
        case noDifference = "no_difference"
        /// Two different certificates are sent, and both are for the host.
        case changesCertificate = "changes_certificate"
        /// The certificate sent with SNI is not for the host. Without SNI the result differs.
        case selectsWrong = "selects_wrong"
        /// With SNI the handshake is refused. Without SNI the server sends a certificate.
        case refused
        /// The same handshake had different results, so there is no telling what SNI changes.
        case varies
        /// One of the handshakes was not made, or tells nothing about SNI.
        case unknown
    }

    /// The server name that was sent in the first handshake.
    var sent: String?
    var verdict: Verdict
}
