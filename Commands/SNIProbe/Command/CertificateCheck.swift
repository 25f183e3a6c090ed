internal import DirectCore
internal import DirectHTTP

/// `sni-probe check FILE NAME...`: judges certificates in a file as if a server sent them, before one does.
struct CertificateCheck {
    private let options: Options
    private let file: String

    init(_ options: Options, of file: String) {
        (self.options, self.file) = (options, file)
    }

    /// Judges the file for each name, writes the results and returns the exit code.
    func run() throws(UsageError) -> Int32 {
        let sink = try OutputSink.open(options)
        let output = ProbeCommand.output(for: options, Console.detect(options.color), sink)
        var digest = Digest()
        let records = try records()
        for var record in records {
            Judge(settings: options.settings, now: record.judgedAt).applyStrictness(to: &record)
            digest.add(record)
            output.add(record, isOnlyOne: records.count == 1)
        }
        output.finish(digest, interrupted: false)
        guard output.flush() else { return try sink.endOfOutput() }
        try sink.commit()
        return output.exitCode(digest) ?? digest.exitCode
    }

    /// The results, one for each name.
    func records() throws(UsageError) -> [ProbeRecord] {
        let path = file == "-" ? "/dev/stdin" : file
        let content = try CertificateFiles.deployed(at: path, passphrase: options.passphrase)
        let certificates = content.certificates
        let context = try context(options.settings)
        guard let sent = ServedChain(der: certificates.map(\.summary.der), context: context) else {
            throw UsageError("there is no certificate in \(quoted(file))", code: ExitCode.noInput)
        }
        let served = Handshake.Served(facts: nil, chain: ChainCache().examine(sent), staple: nil)
        let fault = content.hasMatchingKey == false ? Self.strangeKey : try keyFault(certificates)
        return options.targets.map { record(served, of: $0.target, keyFault: fault) }
    }

    private func record(_ served: Handshake.Served, of target: ProbeTarget, keyFault: Fault?) -> ProbeRecord {
        let probe = Probe(target: target, address: .unspecified, port: target.port, source: .checked(file))
        let handshake = Handshake(serverName: target.host.name?.text, outcome: .success(served))
        let observation = Observation(probe: probe, time: UnixTime.milliseconds, first: handshake)
        let judge = Judge(settings: options.settings, now: Int(UnixTime.now.seconds))
        return judge.record(of: observation, adding: keyFault)
    }

    /// The fault that the key of `--key` is not that of the certificate.
    private func keyFault(_ certificates: [ServedCertificate]) throws(UsageError) -> Fault? {
        guard let path = options.keyFile else { return nil }
        let key = try IdentityFiles.privateKey(at: path)
        let chain = Array(certificates.map(\.pem).joined().utf8)
        let isFitting: Bool
        do throws(TLSError) {
            isFitting = try ClientIdentity(certificateChain: chain, privateKey: key).hasMatchingKey
        } catch {
            throw UsageError("--key: \(error)", code: ExitCode.noInput)
        }
        guard !isFitting else { return nil }
        return Fault(.keyMismatch, "the key is not that of the certificate", brief: "key does not fit")
    }

    private static let strangeKey = Fault(
        .keyMismatch,
        "the key in the file is that of none of its certificates",
        brief: "key does not fit"
    )

    private func context(_ settings: ProbeSettings) throws(UsageError) -> SurveyContext {
        do throws(TLSError) {
            return try ContextSource.make(settings).get()
        } catch {
            throw UsageError("\(error)", hint: "say which roots to trust with --ca", code: ExitCode.noInput)
        }
    }
}
