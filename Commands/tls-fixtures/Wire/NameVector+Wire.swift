internal import TLSFixtures

extension NameVector {
    /// Serves the certificate.
    func trials(_ folder: CertificateFolder) -> Trials {
        .plans([
            TrialPlan {
                let server = try ServerSetup.plain(certificate: certificate).start(on: address, from: folder)
                let stage = VectorServers(servers: [server], endsByItself: [true])
                var job = Job(
                    topic: head.topic.rawValue,
                    vector: head.name,
                    roots: folder.root,
                    // A client may normalise an address before it looks for it.
                    routes: identity.addressSpellings.map { spelling in
                        Job.Route(host: spelling, port: server.port, addresses: [server.authority])
                    },
                    requests: [Job.Request(url: Job.url("https", host: identity, port: server.port))]
                )
                job.settings.accepts = accept
                return Trial(job: job) { outcome, facts in
                    let records = await stage.records()[0]
                    return differences(outcome.last, records: records, port: server.port, facts: facts)
                }
            }
        ])
    }

    private func differences(
        _ outcome: RequestOutcome,
        records: [ConnectionRecord],
        port: UInt16,
        facts: ClientDescription
    ) -> [Difference] {
        let expected = verdict == .accept ? [Ending.answered] : reasons
        var differences = Difference.between(expected, got: outcome.ending, facts: facts)
        differences += records.misnamings(host: identity, port: port)
        // A client may refuse what is no host name, or an IPv6 address, before it connects.
        let isPlain = identity.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-.".contains($0)) }
        let mayRefuse = verdict == .refuse && !isPlain && head.right != .attack && !facts.givesReasons
        if records.isEmpty, !mayRefuse {
            differences += [Difference(what: "connections", expected: "one", got: "none")].asLess
        }
        if verdict == .accept, outcome.ending == .answered, records.allSatisfy({ $0.requests.isEmpty }) {
            differences += [Difference(what: "requests", expected: "one", got: "none")].asLess
        }
        if verdict == .refuse {
            let count = records.map(\.receivedCount).max() ?? 0
            differences += Difference.between("bytes sent to it", expected: 0, got: count)
        }
        if let serverName, records.contains(where: { $0.hello != nil }) {
            differences += records.differencesInServerName(serverName)
        }
        return differences
    }
}

extension Job {
    /// Returns the URL of the root at this host and port.
    static func url(_ scheme: String, host: String, port: UInt16) -> String {
        host.contains(":") ? "\(scheme)://[\(host)]:\(port)/" : "\(scheme)://\(host):\(port)/"
    }
}

extension Difference {
    /// Compares an ending with those that are accepted. For a client that gives no reasons, only success and
    /// failure count.
    static func between(_ expected: [Ending], got: Ending, facts: ClientDescription) -> [Difference] {
        if expected.contains(got) { return [] }
        if !facts.givesReasons && !got.isCrash {
            let hasSucceeded = got == .answered
            if expected.contains(where: { ($0 == .answered) == hasSucceeded }) { return [] }
        }
        let wanted = expected.map(\.description).joined(separator: " or ")
        let found = [Difference(what: "ending", expected: wanted, got: "\(got)")]
        return got == .answered || got.isCrash ? found : found.asLess
    }
}

extension [ConnectionRecord] {
    /// Compares the SNI of the last handshake with a name. `nil` means that there must be none.
    func differencesInServerName(_ wanted: String?) -> [Difference] {
        Difference.betweenServerNames(wanted, got: last { $0.hello != nil }?.serverName?.lowercased())
    }
}
