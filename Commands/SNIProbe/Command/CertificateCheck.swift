internal import DirectCore
internal import DirectHTTP

/// `sni-probe check FILE [NAME...]`: judges certificates in a file as if a server sent them, before one does.
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

    /// The results: one for each name, or one without a name.
    func records() throws(UsageError) -> [ProbeRecord] {
        let path = file == "-" ? "/dev/stdin" : file
        let content = try CertificateFiles.deployed(at: path, passphrase: options.passphrase)
        let context = try context(options.settings)
        var faults = content.isRunTogether ? [Self.runTogether] : []
        let owner = try owner(of: content, faults: &faults)
        let named: [ProbeTarget?] = options.targets.map(\.target)
        return try (named.isEmpty ? [nil] : named).map { (target: ProbeTarget?) throws(UsageError) in
            let identity = try? target?.identity
            let leaf =
                owner
                ?? Self.ownCertificate(in: content.certificates) { certificate in
                    let alone = ServedChain(der: [certificate.summary.der], context: context)
                    return identity.flatMap { alone?.match($0) } != nil
                }
            var certificates = content.certificates
            certificates.insert(certificates.remove(at: leaf), at: 0)
            guard let sent = ServedChain(der: certificates.map(\.summary.der), context: context) else {
                throw UsageError("there is no certificate in \(quoted(file))", code: ExitCode.noInput)
            }
            let served = Handshake.Served(facts: nil, chain: ChainCache().examine(sent), staple: nil)
            let place = leaf == 0 ? [] : [Self.misplaced(content.certificates, leaf: leaf)]
            return record(served, of: target, faults: place + faults)
        }
    }

    private func record(
        _ served: Handshake.Served,
        of named: ProbeTarget?,
        faults: [Fault]
    ) -> ProbeRecord {
        let target = named ?? served.chain.leaf.map(Self.target) ?? ProbeTarget(host: .address(.unspecified))
        let probe = Probe(target: target, address: .unspecified, port: target.port, source: .checked(file))
        let handshake = Handshake(serverName: target.host.name?.text, outcome: .success(served))
        let observation = Observation(probe: probe, time: UnixTime.milliseconds, first: handshake)
        let judge = Judge(settings: options.settings, now: Int(UnixTime.now.seconds))
        var record = judge.record(of: observation, adding: faults.first, hasName: named != nil)
        record.faults.insert(contentsOf: faults.dropFirst(), at: min(1, record.faults.count))
        if let first = faults.first, let words = Self.advice[first.brief] {
            record.hint = Hint(kind: first.id, words: words, place: record.hintPlace)
        }
        if record.passed, served.chain.leaf?.requiresStaple == true {
            let words = "it requires a stapled OCSP response (must-staple)"
            record.warn(.stapleRequired, words + ", without which clients refuse the server")
        }
        return record
    }

    /// The index of the certificate that the keys belong to; `nil` without a key that fits. One that has
    /// issued another is no server's: its key has no place in such a file.
    private func owner(of content: DeployedFile, faults: inout [Fault]) throws(UsageError) -> Int? {
        if content.hasMatchingKey == false { faults.append(Self.strangeKey) }
        var owner: Int?
        let given = try options.keyFile.map { (path) throws(UsageError) in
            try IdentityFiles.privateKey(at: path, passphrase: options.passphrase)
        }
        for (key, fault) in [(given, Self.otherKey), (content.key, Self.strangeKey)] {
            guard let key else { continue }
            let index = try index(of: key, in: content.certificates)
            if index == nil { faults.append(fault) }
            owner = owner ?? index
        }
        return owner
    }

    private func index(
        of key: [UInt8],
        in certificates: [ServedCertificate]
    ) throws(UsageError) -> Int? {
        do throws(TLSError) {
            for index in Self.leaves(in: certificates) {
                let pem = Array(certificates[index].pem.utf8)
                let identity =
                    try options.passphrase.map { (secret) throws(TLSError) in
                        try ClientIdentity(certificateChain: pem, privateKey: key, passphrase: secret)
                    } ?? ClientIdentity(certificateChain: pem, privateKey: key)
                if try identity.hasMatchingKey { return index }
            }
            return nil
        } catch {
            throw UsageError("the private key cannot be read: \(error)", code: ExitCode.noInput)
        }
    }

    /// The index of the server's own certificate: the first that has not issued another, for the name if
    /// there is one.
    private static func ownCertificate(
        in certificates: [ServedCertificate],
        isForName: (ServedCertificate) -> Bool
    ) -> Int {
        let leaves = leaves(in: certificates)
        return leaves.first { isForName(certificates[$0]) } ?? leaves.first ?? 0
    }

    private static func leaves(in certificates: [ServedCertificate]) -> [Int] {
        certificates.indices.filter { index in
            let subject = certificates[index].subject
            return !certificates.contains { $0.issuer == subject && $0.subject != subject }
        }
    }

    /// A target that the certificate is for, where no name is given.
    private static func target(of leaf: ServedCertificate) -> ProbeTarget {
        let names = ServedNames(leaf).all.map { $0.hasPrefix("*.") ? "any" + $0.dropFirst() : $0 }
        let hosts = (names + ["unnamed.invalid"]).lazy.compactMap { try? HTTPHost($0) }
        return ProbeTarget(host: hosts.first ?? .address(.unspecified))
    }

    private static func misplaced(_ certificates: [ServedCertificate], leaf: Int) -> Fault {
        let first = certificates[0].subject.short
        let place = "the server's own certificate is number \(leaf + 1) in it"
        return Fault(
            .nameMismatch,
            "the file begins with \(first), and \(place)",
            brief: "own certificate not first"
        )
    }

    private static let otherKey = Fault(
        .keyMismatch,
        "the key is not that of the certificate",
        brief: "key does not fit"
    )
    private static let strangeKey = Fault(
        .keyMismatch,
        "the key in the file is that of no server's certificate in it",
        brief: "key does not fit"
    )
    private static let runTogether = Fault(
        .certificateInvalid,
        "END and BEGIN are on one line, and OpenSSL and the servers that use it read no such file",
        brief: "END and BEGIN on one line"
    )
    private static let advice: [String: HintText] = [
        "own certificate not first":
            "servers show the first certificate as their own: put it first, then each followed by its issuer",
        "END and BEGIN on one line": "put a line break after each line that ends with five dashes",
    ]

    private func context(_ settings: ProbeSettings) throws(UsageError) -> SurveyContext {
        do throws(TLSError) {
            return try ContextSource.make(settings).get()
        } catch {
            throw UsageError("\(error)", hint: "say which roots to trust with --ca", code: ExitCode.noInput)
        }
    }
}
