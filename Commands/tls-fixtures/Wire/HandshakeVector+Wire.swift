internal import TLSFixtures

extension HandshakeVector {
    /// Starts the server that the vector names.
    func trials(_ folder: VectorFolder) -> Trials {
        guard let setup = folder.server(server) else { return .unsuitable("no such server") }
        let certificates = CertificateFolder(path: folder.certificates)
        return .plans([
            TrialPlan {
                let server = try setup.start(on: "127.0.0.1", from: certificates)
                let stage = VectorServers(servers: [server], endsByItself: [setup.endsByItself])
                let job = job(server, certificates)
                return Trial(job: job) { outcome, facts in
                    let last = outcome.last
                    let records = await stage.records()[0]
                    var differences = Difference.between(expect.endings, got: last.ending, facts: facts)
                    if case .done(let outcomes) = outcome {
                        for (index, earlier) in outcomes.dropLast().enumerated()
                        where earlier.ending != .answered {
                            let what = "request \(index + 1)"
                            differences +=
                                [
                                    Difference(what: what, expected: "answered", got: earlier.word)
                                ].asLess
                        }
                    }
                    if last.ending == .answered, records.allSatisfy({ $0.receivedCount == 0 }) {
                        differences += [Difference(what: "requests", expected: "one", got: "none")].asLess
                    }
                    if let content = expect.content, let response = last.response {
                        let text = String(decoding: response.body, as: UTF8.self)
                        differences += Difference.between("content", expected: content, got: text)
                    }
                    return differences + self.differences(records)
                }
            }
        ])
    }

    private func job(_ server: FixtureServer, _ certificates: CertificateFolder) -> Job {
        var routes: [Job.Route] = []
        for name in names where !routes.contains(where: { $0.host == name }) {
            routes.append(Job.Route(host: name, port: server.port, addresses: [server.authority]))
        }
        var job = Job(
            topic: head.topic.rawValue,
            vector: head.name,
            roots: certificates.root,
            routes: routes,
            requests: names.map { Job.Request(url: Job.url("https", host: $0, port: server.port)) }
        )
        if names.count > 1 { job.kept = [.sessions] }
        job.settings.versions = client.versions
        job.settings.certificate = client.certificate.map { "\(certificates.path)/\($0).pem" }
        job.settings.resumes = client.resumes
        return job
    }

    /// Compares what the server saw.
    private func differences(_ records: [ConnectionRecord]) -> [Difference] {
        let last = records.last
        var found = Difference.between(
            "version",
            expected: expect.version.map(\.openSSLName),
            got: last?.tls?.version
        )
        if let wanted = expect.chosenProtocol {
            let got = last?.tls?.applicationProtocol
            found += Difference.between("protocol", expected: wanted ?? "none", got: got ?? "none")
        }
        if let wanted = expect.clientCertificate {
            let got = last?.tls?.clientSubject
            found += Difference.between("client certificate", expected: wanted ?? "none", got: got ?? "none")
        }
        if let wanted = expect.serverName { found += records.differencesInServerName(wanted) }
        found += Difference.between(
            "protocols offered",
            expected: expect.offeredProtocols,
            got: last?.hello?.applicationProtocols
        )
        found += Difference.between("resumed", expected: expect.isResumed, got: last?.isResumed)
        found += Difference.between(
            "offers to resume",
            expected: expect.offersResumption,
            got: last?.hello?.offersResumption
        )
        found += Difference.between(
            "offers early data",
            expected: expect.offersEarlyData,
            got: last?.hello?.offersEarlyData
        )
        let hasSentRequest = records.contains { $0.receivedCount > 0 }
        found += Difference.between("request sent", expected: expect.hasSentRequest, got: hasSentRequest)
        return found
    }
}
