internal import TLSFixtures

/// The result of one vector with one client.
struct Row: Sendable {
    enum Outcome: Equatable, Sendable {
        case passed
        case failed([Difference])
        /// The vector was left out because the client cannot run it, for this reason.
        case left(String)
    }

    var client: String
    var head: VectorHead
    var outcome: Outcome
    /// The client's own error message, if there was one.
    var words = ""
}

/// Runs single vectors against one client.
struct VectorRunner: Sendable {
    let client: any VectorClient
    let folder: VectorFolder

    private var certificates: CertificateFolder { CertificateFolder(path: folder.certificates) }

    func run(_ vector: Vector) async -> Row {
        guard client.takesBytes || vector.head.topic.needsServers else {
            return Row(
                client: client.title,
                head: vector.head,
                outcome: .left("a command cannot run vectors of bytes")
            )
        }
        return switch vector {
        case .response(let vector): row(vector.head, differences: vector.differences())
        case .request(let vector): row(vector.head, differences: vector.differences())
        case .cookies(let vector): row(vector.head, differences: vector.differences())
        case .decoding(let vector): attempt(vector)
        case .cache(let vector): await row(vector.head, differences: vector.differences())
        case .redirect(let vector): await attempt(vector.head) { try await run(vector) }
        case .names(let vector): await attempt(vector.head) { try await run(vector) }
        case .handshake(let vector): await attempt(vector.head) { try await run(vector) }
        case .routes(let vector): await attempt(vector.head) { try await run(vector) }
        }
    }

    private func row(_ head: VectorHead, differences: [Difference], words: String = "") -> Row {
        let outcome = differences.isEmpty ? Row.Outcome.passed : .failed(differences)
        return Row(client: client.title, head: head, outcome: outcome, words: words)
    }

    private func attempt(_ vector: DecodingVector) -> Row {
        if let coding = vector.missing {
            let outcome = Row.Outcome.left("built without \(coding)")
            return Row(client: client.title, head: vector.head, outcome: outcome)
        }
        return row(vector.head, differences: vector.differences())
    }

    /// Runs `body`. A server that cannot be started fails the vector and does not end the run.
    private func attempt(_ head: VectorHead, body: () async throws -> Row) async -> Row {
        do {
            return try await body()
        } catch let unsupportedReason as Obstacle {
            return Row(client: client.title, head: head, outcome: .left(unsupportedReason.why))
        } catch {
            return row(head, differences: [Difference(what: "servers", expected: "started", got: "\(error)")])
        }
    }

    /// The client cannot run the vector.
    private struct Obstacle: Error {
        var why: String
    }

    private func run(_ vector: NameVector) async throws -> Row {
        let setup = ServerSetup.plain(certificate: vector.certificate)
        let server = try setup.start(on: vector.address, from: certificates)
        let stage = VectorServers(servers: [server], endsByItself: [true])
        let errand = ClientTask(
            urls: [url("https", host: vector.identity, port: server.port)],
            host: vector.identity,
            port: server.port,
            addresses: [vector.address],
            certificates: folder.certificates
        )
        let seen = try await observe(errand)
        let records = await stage.records()[0]
        let expected = vector.verdict == .accept ? [Ending.answered] : vector.reasons
        var differences = judge(expected, seen: seen)
        differences += records.misnamings(host: vector.identity, port: server.port)
        if records.isEmpty {
            differences.append(Difference(what: "connections", expected: "one", got: "none"))
        }
        if vector.verdict == .refuse {
            differences += Difference.between(
                "bytes sent to it",
                expected: 0,
                got: records.map(\.receivedCount).max() ?? 0
            )
        }
        if let serverName = vector.serverName {
            differences += differencesInNames(serverName, records: records)
        }
        return row(vector.head, differences: differences, words: seen.text)
    }

    /// Runs the vector with a simulated network and, if possible, with a real one.
    private func run(_ vector: RedirectVector) async throws -> Row {
        let real = try await vector.networkDifferences() ?? []
        return await row(vector.head, differences: vector.differences() + real)
    }

    private func run(_ vector: HandshakeVector) async throws -> Row {
        guard let setup = folder.server(vector.server) else { throw Obstacle(why: "no such server") }
        let server = try setup.start(on: "127.0.0.1", from: certificates)
        let stage = VectorServers(servers: [server], endsByItself: [setup.endsByItself])
        var errand = ClientTask(
            urls: vector.names.map { url("https", host: $0, port: server.port) },
            host: vector.names[0],
            port: server.port,
            addresses: ["127.0.0.1"],
            certificates: folder.certificates
        )
        errand.client = vector.client
        let seen = try await observe(errand)
        let records = await stage.records()[0]
        var differences = judge(vector.expect.endings, seen: seen)
        if let content = vector.expect.content, seen.ending == .answered {
            differences += Difference.between("content", expected: content, got: seen.text)
        }
        differences += self.differences(vector.expect, records: records)
        return row(vector.head, differences: differences, words: seen.text)
    }

    private func differences(_ expect: HandshakeVector.Expectation, records: [ConnectionRecord])
        -> [Difference]
    {
        let last = records.last
        var found = Difference.between(
            "version",
            expected: expect.version.map(\.openSSLName),
            got: last?.tls?.version
        )
        if let wanted = expect.chosenProtocol {
            found += Difference.between(
                "protocol",
                expected: wanted ?? "none",
                got: last?.tls?.applicationProtocol ?? "none"
            )
        }
        if let wanted = expect.clientCertificate {
            found += Difference.between(
                "client certificate",
                expected: wanted ?? "none",
                got: last?.tls?.clientSubject ?? "none"
            )
        }
        if let wanted = expect.serverName { found += differencesInNames(wanted, records: records) }
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

    private func run(_ vector: RouteVector) async throws -> Row {
        var differences: [Difference] = []
        var words = ""
        // If the vector depends on time, other load may have made it fail: the best of several tries counts.
        for _ in 0..<(vector.isAboutTime ? Self.chances : 1) {
            (differences, words) = try await judge(vector)
            if differences.isEmpty { break }
        }
        return row(vector.head, differences: differences, words: words)
    }

    private func judge(_ vector: RouteVector) async throws -> ([Difference], words: String) {
        let plan = try RoutePlan(vector, folder, certificates)
        var errand = ClientTask(
            urls: [url(vector.scheme.rawValue, host: vector.host, port: plan.port)],
            host: vector.host,
            port: plan.port,
            addresses: plan.texts(of: .request),
            certificates: folder.certificates
        )
        errand.mappedAddresses = plan.texts(of: .map) ?? []
        errand.dialling = vector.dialling
        let start = ContinuousClock.now
        let seen = try await observe(errand)
        let elapsed = ContinuousClock.now - start
        let records = await plan.stage.records()
        var differences = judge([vector.ending], seen: seen)
        differences += plan.differences(records, seen: seen)
        if let within = vector.within, elapsed > .milliseconds(within) {
            differences.append(Difference(what: "time", expected: "\(within) ms", got: "\(elapsed)"))
        }
        for record in records {
            differences += record.misnamings(host: vector.host, port: plan.port)
        }
        return (differences, seen.text)
    }

    /// The number of tries for a vector that depends on time.
    private static let chances = 5

    private func observe(_ errand: ClientTask) async throws -> Observation {
        if let why = client.unsupportedReason(to: errand) { throw Obstacle(why: why) }
        return await client.run(errand)
    }

    /// Compares the outcome with the accepted ones. For a client that gives no reasons, only success and failure
    /// count.
    private func judge(_ expected: [Ending], seen: Observation) -> [Difference] {
        if expected.contains(seen.ending) { return [] }
        if !client.givesReasons && !seen.ending.isCrash {
            let hasSucceeded = seen.ending == .answered
            if expected.contains(where: { ($0 == .answered) == hasSucceeded }) { return [] }
        }
        let wanted = expected.map(\.description).joined(separator: " or ")
        return [Difference(what: "ending", expected: wanted, got: "\(seen.ending)")]
    }

    private func differencesInNames(_ wanted: String?, records: [ConnectionRecord]) -> [Difference] {
        let got = records.last { $0.hello != nil }?.serverName?.lowercased()
        return Difference.between("SNI", expected: wanted ?? "none", got: got ?? "none")
    }

    private func url(_ scheme: String, host: String, port: UInt16) -> String {
        host.contains(":") ? "\(scheme)://[\(host)]:\(port)/" : "\(scheme)://\(host):\(port)/"
    }
}
