internal import DirectCore
internal import TLSFixtures

extension PathVector {
    /// The name of the URL, which the path must not see, and the one that it sees instead.
    private static let (inner, publicName) = ("secret.test", "cover.test")

    /// Starts the server, and gives the client a configuration.
    func trials(_ authority: WireAuthority) -> Trials {
        guard FixtureECHKey.isSupported else {
            return .unsuitable("the fixtures need OpenSSL 4 for Encrypted Client Hello")
        }
        return .plans([
            TrialPlan {
                let published = try FixtureECHKey(publicName: Self.publicName)
                let server = try FixtureServer.start(security(published, authority)) { _ in
                    .text("hello").then(.close)
                }
                let stage = VectorServers(servers: [server], endsByItself: [true])
                let job = job(server, published, authority)
                return Trial(job: job) { outcome, facts in
                    let found = Difference.between(expect.endings, got: outcome.last.ending, facts: facts)
                    return found + differences(await stage.records()[0])
                }
            }
        ])
    }

    private func security(_ published: FixtureECHKey, _ authority: WireAuthority) throws -> FixtureSecurity {
        let proved = provesPublicName ? [Self.publicName] : []
        let certificate = try authority.certificate(for: [Self.inner] + proved)
        let own = keys == .published ? published : try FixtureECHKey(publicName: Self.publicName)
        return .tls(certificate) {
            ($0.minimumVersion, $0.maximumVersion) = (
                versions.lowerBound.forServers, versions.upperBound.forServers
            )
            $0.groups = groups
            guard keys != .none else { return }
            $0.encryptedClientHello = FixtureECH(own)
            $0.encryptedClientHello?.namesKeys = keys != .unnamed
        }
    }

    private func job(_ server: FixtureServer, _ key: FixtureECHKey, _ authority: WireAuthority) -> Job {
        let url = Job.url("https", host: Self.inner, port: server.port)
        var job = Job(
            topic: head.topic.rawValue,
            vector: head.name,
            roots: authority.rootFile,
            routes: [Job.Route(host: Self.inner, port: server.port, addresses: [server.authority])],
            requests: Array(repeating: Job.Request(url: url), count: requests)
        )
        if requests > 1 { job.kept = [.sessions] }
        job.settings.ech = Base64.encode(key.configList)
        return job
    }

    /// Judges the connections: their number, and what came on them.
    private func differences(_ records: [ConnectionRecord]) -> [Difference] {
        var found = pathDifferences(records)
        found += Difference.between("connections", expected: expect.connections, got: records.count)
        if expect.endings == [.answered] {
            let served = records.count { $0.requests.count == 1 }
            found += Difference.between("connections with a request", expected: requests, got: served)
        }
        let isResumed = records.last?.isResumed
        return found
            + Difference.between("resumed", expected: expect.isResumed, got: isResumed).judged(by: .choice)
    }

    /// Judges what the path has seen, and that a connection whose client hello was refused had no request.
    private func pathDifferences(_ records: [ConnectionRecord]) -> [Difference] {
        let seen = records.count { record in
            String(decoding: record.socketBytes, as: UTF8.self).lowercased().contains(Self.inner)
        }
        var found = Difference.between("connections that show the name", expected: 0, got: seen)
        for record in records {
            let outer = record.tls?.outerServerName ?? record.serverName
            found += Difference.between("SNI on the path", expected: Self.publicName, got: outer ?? "none")
        }
        // The name in a client hello that was decrypted is the inner one.
        let sent = records.count { $0.serverName == Self.publicName && $0.receivedCount > 0 }
        found += Difference.between("refused connections with a request", expected: 0, got: sent)
        return head.right == .choice ? found : found.judged(by: .must)
    }
}
