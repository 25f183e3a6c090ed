import DirectJSON
import DirectTestCommands
import TLSFixtures
import Testing

@testable import tls_fixtures

/// A client that claims the same outcome for every request, and connects to nothing.
private struct DeafClient: VectorClient {
    let outcome: RequestOutcome
    var facts: ClientDescription {
        ClientDescription(name: "deaf", version: "", codings: ["gzip", "deflate", "br", "zstd"])
    }
    var width: Int { 8 }

    func run(_ job: Job) async -> JobOutcome { .done(job.requests.map { _ in outcome }) }
}

/// Our client with a part of its jobs or its results changed.
private struct ChangedClient: VectorClient {
    var facts: ClientDescription { OurClient().facts }
    var width: Int { 8 }
    var job: @Sendable (inout Job) -> Void = { _ in }
    var result: @Sendable (inout ReportedResponse) -> Void = { _ in }

    func run(_ asked: Job) async -> JobOutcome {
        var asked = asked
        job(&asked)
        guard case .done(var outcomes) = await OurClient().run(asked) else { return .left("") }
        for index in outcomes.indices {
            guard case .response(var response) = outcomes[index].result else { continue }
            result(&response)
            outcomes[index].result = .response(response)
        }
        return .done(outcomes)
    }
}

/// The topics that can be shown with this OpenSSL.
private let shownTopics = Topic.allCases.filter { $0 != .path || FixtureECHKey.isSupported }

/// Our client, which tries the next address only when the one before has failed, however busy the machine is.
private struct PatientClient: VectorClient {
    var facts: ClientDescription { OurClient().facts }
    var width: Int { OurClient().width }

    func run(_ asked: Job) async -> JobOutcome {
        var job = asked
        var dialling = job.settings.dialling ?? RouteVector.Dialling()
        dialling.stagger = 600_000
        job.settings.dialling = dialling
        return await OurClient().run(job)
    }
}

/// A client that writes method and fields of a request as they are, without any check.
private struct VerbatimClient: VectorClient {
    var facts: ClientDescription { ClientDescription(name: "verbatim", version: "", codings: []) }
    var width: Int { 4 }

    func run(_ job: Job) async -> JobOutcome {
        let (request, route) = (job.requests[0], job.routes[0])
        var head = Array(
            "\(request.method) / HTTP/1.1\r\nHost: \(route.authority)\r\n".unicodeScalars.map {
                UInt8($0.value)
            }
        )
        for field in job.settings.fields + request.fields {
            head += field.name + [0x3A, 0x20] + field.value + [13, 10]
        }
        let bytes = (head + [13, 10]).map { "\\x" + String(Int($0) + 0x100, radix: 16).suffix(2) }
        let place = route.addresses[0].replacing(":", with: "/")
        let script =
            "exec 3<>/dev/tcp/\(place); printf '\(bytes.joined())' >&3; read -t 1 line <&3; echo done"
        _ = ShellCommand.run("bash -c \(Shell.quoted(script))", within: .seconds(20))
        return .done([RequestOutcome(.failed(kind: nil, text: "it does not read responses"))])
    }
}

@Suite("The vectors over the network", .idleLimit)
struct WireTests {
    private static let folder = try? VectorFolder(fixtures: checkedInFixtures)

    /// Runs the first vectors of each file of a topic. Returns the rows over the network.
    private func rows(_ topic: Topic, _ client: some VectorClient, perFile: Int = 3) async throws -> [Row] {
        let folder = try #require(Self.folder)
        let authority = try WireAuthority(certificates: folder.certificates)
        var counts: [Substring: Int] = [:]
        var rows: [Row] = []
        for vector in folder.vectors(of: [topic]) where !waitsForSilence(vector, folder) {
            let file = vector.head.name.prefix { $0 != ":" }
            counts[file, default: 0] += 1
            guard counts[file, default: 0] <= perFile else { continue }
            let runner = VectorRunner(client: client, folder: folder, authority: authority)
            rows.append(await runner.runOverNetwork(vector))
        }
        return rows
    }

    /// Whether the vector has an address that never answers, so that a busy machine can change its result.
    private func waitsForSilence(_ vector: Vector, _ folder: VectorFolder) -> Bool {
        guard case .routes(let route) = vector else { return false }
        if route.isAboutTime { return true }
        return route.addresses.contains { address in
            guard let setup = address.server.flatMap(folder.server) else { return false }
            return setup.isQuiet(for: .seconds(1)) || !setup.endsByItself
        }
    }

    @Test("Our client passes vectors of every file", arguments: shownTopics)
    func ours(_ topic: Topic) async throws {
        let rows = try await rows(topic, PatientClient())
        for row in rows {
            if case .failed(let differences) = row.outcome {
                Issue.record("\(row.head.name): \(differences)")
            }
        }
        #expect(rows.contains { $0.outcome == .passed })
    }

    /// The rows of the vectors of `routes` with a limit of time.
    private func rowsAboutTime(_ client: some VectorClient, first count: Int = .max) async throws
        -> [(route: RouteVector, row: Row)]
    {
        let folder = try #require(Self.folder)
        let authority = try WireAuthority(certificates: folder.certificates)
        let runner = VectorRunner(client: client, folder: folder, authority: authority)
        var rows: [(RouteVector, Row)] = []
        for vector in folder.vectors(of: [.routes]) {
            guard rows.count < count, case .routes(let route) = vector, route.within != nil else { continue }
            rows.append((route, await runner.runOverNetwork(vector)))
        }
        return rows
    }

    @Test(
        "Our client passes every vector with a limit of time at the first try, because only silence takes time"
    )
    func heldTime() async throws {
        let rows = try await rowsAboutTime(OurClient())
        #expect(rows.count > 30)
        for (_, row) in rows { #expect(row.outcome == .passed && row.tries == 1, "\(row.head.name)") }
    }

    @Test("A client that waits a millisecond too long for each silent address is found out")
    func slowness() async throws {
        let client = ChangedClient(job: { $0.settings.dialling?.stagger += 1 })
        for (route, row) in try await rowsAboutTime(client, first: 8) {
            let isFailed = if case .failed = row.outcome { true } else { false }
            #expect(isFailed == route.endings.contains(.fault(.overtaken)), "\(row.head.name)")
        }
    }

    @Test("A client that only claims success fails in every topic", arguments: shownTopics)
    func claimsSuccess(_ topic: Topic) async throws {
        let response = ReportedResponse(status: 200, fields: [], body: [])
        let rows = try await rows(topic, DeafClient(outcome: RequestOutcome(.response(response))), perFile: 2)
        #expect(rows.contains { if case .failed = $0.outcome { true } else { false } })
    }

    @Test("A client that only claims failure fails in every topic", arguments: shownTopics)
    func claimsFailure(_ topic: Topic) async throws {
        let outcome = RequestOutcome(.failed(kind: nil, text: "no"))
        let rows = try await rows(topic, DeafClient(outcome: outcome), perFile: 6)
        #expect(rows.contains { if case .failed = $0.outcome { true } else { false } })
    }

    /// The names of the vectors that fail.
    private func failures(_ topic: Topic, _ client: ChangedClient, perFile: Int = 16) async throws -> [String]
    {
        try await rows(topic, client, perFile: perFile).compactMap { row in
            if case .failed = row.outcome { row.head.name } else { nil }
        }
    }

    @Test("A client that sends its fields to every origin is found out")
    func credentials() async throws {
        let client = ChangedClient(job: { $0.settings.redirects.surviving = ["Authorization", "Cookie"] })
        #expect(try await failures(.redirect, client).contains("origin: Authorization to another host"))
    }

    @Test(
        "A client that sends the name in clear text is found out",
        .enabled(if: FixtureECHKey.isSupported, "needs OpenSSL 4")
    )
    func shownNames() async throws {
        let client = ChangedClient(job: { $0.settings.ech = nil })
        let rows = try await rows(.path, client, perFile: 16)
        #expect(rows.count == (try await failures(.path, client).count) && !rows.isEmpty)
    }

    @Test("A client that does not decode is found out")
    func decoding() async throws {
        let client = ChangedClient(job: { $0.settings.decodes = false })
        #expect(try await failures(.decoding, client).count > 30)
    }

    @Test("A client that forgets its cookies, or sends them to all, is found out")
    func cookies() async throws {
        let client = ChangedClient(job: { $0.kept = [] })
        #expect(try await failures(.cookies, client).count > 20)
    }

    @Test("A client without a cache is found out by what reaches the origin")
    func cache() async throws {
        let client = ChangedClient(job: { $0.kept = [] })
        #expect(try await failures(.cache, client).count > 20)
    }

    @Test("A client that changes content, status or fields is found out")
    func responses() async throws {
        let cut = ChangedClient(result: { $0.body = $0.body.dropLast() })
        #expect(try await failures(.response, cut).contains("framing: length"))
        let status = ChangedClient(result: { $0.status = 200 })
        #expect(try await failures(.response, status).isEmpty == false)
        let fields = ChangedClient(result: { $0.fields = $0.fields.map { ($0.name, "x") } })
        #expect(try await failures(.response, fields).isEmpty == false)
    }

    @Test("A client that accepts what it should not is found out", arguments: ["acceptsDoubtfulFraming"])
    func leniency(_ name: String) async throws {
        let client = ChangedClient(job: {
            if $0.settings.leniency == nil { $0.settings.leniency = .array([.string(name)]) }
        })
        #expect(try await failures(.response, client, perFile: 80).isEmpty == false)
    }

    @Test("A client that resolves the name to another address is found out")
    func names() async throws {
        // Every certificate of the topic that is right for its name is wrong for this one.
        let client = ChangedClient(job: { job in
            job.requests = job.requests.map { request in
                var request = request
                request.url = "https://other.test:\(job.routes[0].port)/"
                return request
            }
            job.routes[0].host = "other.test"
        })
        #expect(try await failures(.names, client).contains { $0.hasPrefix("exact:") })
    }

    @Test("A client that sends invalid bytes as they are given is found out, in every place")
    func verbatim() async throws {
        let folder = try #require(Self.folder)
        let runner = VectorRunner(
            client: VerbatimClient(),
            folder: folder,
            authority: try WireAuthority(certificates: folder.certificates)
        )
        let wanted = [
            "refused: CR LF in a value", "refused: bare LF in a value", "refused: bare CR in a name",
            "refused: CR LF in a default",
        ]
        for name in wanted {
            let vector = try #require(folder.vectors.first { $0.head.name == name }, "\(name)")
            let row = await runner.runOverNetwork(vector)
            guard case .failed = row.outcome else {
                Issue.record("\(name): \(row.outcome)")
                continue
            }
        }
    }

    @Test(
        "A connection that is given up before its handshake needs no closing alert",
        arguments: ["", ", from a kept connection"]
    )
    func spares(_ kind: String) async throws {
        let folder = try #require(Self.folder)
        let client = ChangedClient(job: { job in
            let place = job.routes[0].addresses[0].replacing(":", with: "/")
            let spare = "exec 3<>/dev/tcp/\(place)"
            let shell = ShellCommand.run("bash -c \(Shell.quoted(spare))", within: .seconds(20))
            #expect(shell.ending == .exited(0))
        })
        let vector = try #require(folder.vector("connections: close_notify of the client\(kind)"))
        let authority = try WireAuthority(certificates: folder.certificates)
        let row = await VectorRunner(client: client, folder: folder, authority: authority)
            .runOverNetwork(vector)
        #expect(row.outcome == .passed)
    }

    @Test("A vector starts only the servers that its URLs lead to", arguments: ["http", "https"])
    func servers(_ scheme: String) throws {
        let folder = try #require(Self.folder)
        let authority = try WireAuthority(certificates: folder.certificates)
        let places = ["a.test", "b.test"].map { Place(scheme: scheme, host: $0, port: 443) }
        let servers = try NamedServers(places, authority: authority) { _ in .http { _ in .text("") } }
        #expect(servers.schemes == [scheme])
        #expect(servers.routes.map(\.authority) == ["a.test:443", "b.test:443"])
        #expect(Set(servers.routes.flatMap(\.addresses)).count == 1)
    }

    @Test("A character beyond a byte is not cut to one")
    func characters() {
        #expect("\u{E9}a".latin1Bytes == [0xE9, 0x61])
        #expect("\u{141}".latin1Bytes == nil)
        #expect("\u{141}".bytesOfField == [0xC5, 0x81])
        #expect("\u{C5}\u{81}".latin1AsUTF8 == "\u{141}")
        #expect("\u{141}".latin1AsUTF8 == "\u{141}")
    }

    @Test("A field value beyond a byte's characters is sent in UTF-8, over the network as inside")
    func fieldText() async throws {
        let request = "{\"url\": \"https://a.test/\", \"headers\": [[\"X\", \"\u{141}\"]]}"
        let fixtures = try TemporaryFixtures([
            "redirect/a.json": """
            [{"name": "a: one", "why": "x", "reference": "RFC 9110", "right": "must", "request": \(request), "answers": [],
            "expect": {"requests": [{"url": "https://a.test/", "headers": [["X", "\u{141}"]]}]}}]
            """
        ])
        let folder = try VectorFolder(fixtures: fixtures.path)
        let authority = try WireAuthority(certificates: folder.certificates)
        let vector = try #require(folder.vectors.first)
        let row = await VectorRunner(client: OurClient(), folder: folder, authority: authority).run(vector)
        #expect(row.outcome == .passed)
    }

    @Test("A host that is an address is given in each form in which clients write it")
    func spellings() {
        #expect("a.test".addressSpellings == ["a.test"])
        #expect("127.0.0.1".addressSpellings == ["127.0.0.1"])
        #expect("0:0:0:0:0:0:0:1".addressSpellings == ["0:0:0:0:0:0:0:1", "::1"])
        #expect("::ffff:127.0.0.1".addressSpellings == ["::ffff:127.0.0.1", "::ffff:7f00:1"])
    }

    @Test("A failure of an earlier request fails a vector of several")
    func earlier() async throws {
        let client = ChangedClient(job: { job in
            guard job.requests.count > 1 else { return }
            job.requests[0].url = "https://elsewhere.test:1/"
        })
        #expect(try await failures(.handshake, client).contains { $0.hasPrefix("resumption:") })
    }
}
