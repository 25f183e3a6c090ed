internal import DirectHTTP
internal import TLSFixtures

extension ExchangeVector {
    /// Serves the answers, and looks at what arrives.
    func trials(_ authority: WireAuthority) -> Trials {
        .plans([
            TrialPlan(chances: answers.contains { $0.requests.contains(where: \.isPrompt) } ? 3 : 1) {
                let stage = try ExchangeStage(servers, authority)
                var job = Job(
                    topic: head.topic.rawValue,
                    vector: head.name,
                    roots: authority.rootFile,
                    routes: stage.routes,
                    settings: settings,
                    requests: requests
                )
                if let proxy = settings.proxy, let server = stage.servers[proxy.place] {
                    job.settings.proxy?.place = server.authority
                    job.routes.append(
                        Job.Route(host: server.address, port: server.port, addresses: [server.authority])
                    )
                }
                job.kept = Set(kept)
                return Trial(job: job) { outcome, facts in
                    await differences(outcome, on: stage, facts: facts)
                }
            }
        ])
    }

    private func differences(
        _ outcome: JobOutcome,
        on stage: ExchangeStage,
        facts: ClientDescription
    ) async -> [Difference] {
        var first: [Difference]?
        for wanted in facts.givesReasons ? Array(answers.prefix(1)) : answers {
            let arrived = stage.arrived
            var found = wanted.differences(from: arrived)
            found += wanted.differences(from: outcome)
            if found.isEmpty { found = await stage.connectionDifferences(wanted) }
            if found.isEmpty { return [] }
            first = first ?? found
        }
        return first ?? []
    }
}

extension ExchangeVector.Expectation {
    /// Compares the requests that have arrived.
    fileprivate func differences(from arrived: [ExchangeStage.Arrived]) -> [Difference] {
        var arrived = arrived
        if isRepeatable {
            arrived = arrived.indices.filter { $0 == 0 || arrived[$0].place != arrived[$0 - 1].place }
                .map { arrived[$0] }
        }
        let wanted = requests.map { "\($0.server): \($0.line)" }
        let got = arrived.map(\.place)
        guard wanted == got else {
            let found = Difference.between("requests", expected: wanted, got: got)
            return wanted.starts(with: got) ? found.asLess : found
        }
        return zip(requests, arrived).enumerated().flatMap { index, pair in
            pair.0.differences(from: pair.1).map { $0.found(in: "\(index + 1)") }
        }
    }

    /// Compares what the caller got.
    fileprivate func differences(from outcome: JobOutcome) -> [Difference] {
        guard let results else { return [] }
        guard case .done(let outcomes) = outcome, outcomes.count == results.count else {
            return [Difference(what: "results", expected: "\(results.count)", got: outcome.last.word)].asLess
        }
        return zip(results, outcomes).enumerated().flatMap { index, pair in
            pair.0.differences(from: pair.1).map { $0.found(in: "result \(index + 1)") }
        }
    }
}

extension ExchangeVector.Result {
    fileprivate func differences(from got: RequestOutcome) -> [Difference] {
        guard let response = got.response else {
            return isError ? [] : [Difference(what: "result", expected: "a response", got: got.word)].asLess
        }
        if isError { return [Difference(what: "result", expected: "an error", got: got.word)] }
        // A command tells no status.
        let found = response.status.flatMap { Difference.between("status", expected: status, got: $0) } ?? []
        return found + Difference.between("body", expected: body, got: response.body)
            + (events.map { Difference.between("events", expected: $0, got: response.events ?? []) } ?? [])
    }
}

extension ExchangeVector.Arrival {
    /// What no client needs between a head and its content, unless it waits for something. A busy machine may
    /// need it, so such a vector has several chances.
    private static let longestPause = Duration.milliseconds(700)

    fileprivate func differences(from got: ExchangeStage.Arrived) -> [Difference] {
        let headers = got.request.headers
        var found = Difference.between("version", expected: version, got: got.version)
        for (name, value) in fields {
            let values = headers.all(name).joined(separator: ", ")
            found += Difference.between(
                name,
                expected: value ?? "none",
                got: headers[name] == nil ? "none" : values
            )
        }
        for name in present where headers[name] == nil {
            found.append(Difference(what: name, expected: "a value", got: "none"))
        }
        for (name, element) in elements {
            let list = headers.all(name).flatMap { $0.lowercased().split(separator: ",") }
            let words = list.map { String($0.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " }) }
            if !words.contains(element) {
                let text = headers.all(name).joined(separator: ", ")
                found.append(Difference(what: name, expected: "with \(element)", got: text))
            }
        }
        if isInForm { found += headers.formDifferences }
        if let serverName {
            let wanted = serverName == "none" ? nil : serverName
            found += Difference.betweenServerNames(wanted, got: got.request.serverName)
        }
        found += Difference.between("body", expected: body, got: got.request.body)
        found += Difference.between("connection", expected: connection, got: got.connection)
        found += got.request.malformations
        if isPrompt, let wait = got.request.waitForContent, wait > Self.longestPause {
            found.append(Difference(what: "content", expected: "behind the head", got: "after \(wait)"))
        }
        if let digest {
            let field = headers["authorization"] ?? headers["proxy-authorization"]
            found += digest.differences(from: field, body: got.request.body)
        }
        return found
    }
}

extension FixtureHeaders {
    /// What senders must not generate in lists (RFC 9110, sections 5.6.1.1 and 5.6.3).
    fileprivate var formDifferences: [Difference] {
        let lists = [
            "accept", "accept-encoding", "accept-language", "cache-control", "connection", "te", "upgrade",
        ]
        return fields.filter { lists.contains($0.name.lowercased()) }.flatMap { field in
            let elements = field.value.split(separator: ",", omittingEmptySubsequences: false)
            let hasEmptyOne = elements.contains { $0.allSatisfy { $0 == " " || $0 == "\t" } }
            let hasBlanks = [" =", "= ", "\t=", "=\t"].contains { field.value.contains($0) }
            guard hasEmptyOne || hasBlanks else { return [Difference]() }
            return [Difference(what: field.name, expected: "a list in form", got: field.value)]
        }
    }
}

/// The servers of a vector, running.
private struct ExchangeStage {
    /// A request that has arrived at a server.
    struct Arrived {
        var server: String
        /// Method and target, with `{NAME}` instead of the address of the server with that name.
        var line: String
        var request: RequestRecord
        /// The number of the connection among those of its server that had requests.
        var connection: Int

        var place: String { "\(server): \(line)" }
        /// The version of HTTP.
        var version: String {
            let line = request.headText.prefix { $0 != "\r\n" && $0 != "\n" }
            return String(line.split(separator: "/").last ?? "")
        }
    }

    private(set) var servers: [String: FixtureServer] = [:]
    private(set) var routes: [Job.Route] = []
    private let setups: [ExchangeVector.Server]

    init(_ setups: [ExchangeVector.Server], _ authority: WireAuthority) throws {
        self.setups = setups
        let places = Locked<[String: String]>([:])
        for setup in setups {
            let script = AnswerScript(setup)
            var security = FixtureSecurity.plain
            if let names = setup.certificate {
                security = .tls(FixtureTLSSettings(certificates: [try authority.certificate(for: names)]))
            }
            let server = try FixtureServer.start(security, on: setup.address) { request in
                try script.answer(request, places: places.withLock { $0 })
            }
            servers[setup.name] = server
            places.withLock { places in
                for host in setup.hosts + [server.authority] { places[host] = server.authority }
            }
            routes += setup.hosts.compactMap { host in
                Place(authority: Array(host.utf8)).map {
                    Job.Route(host: $0.host, port: $0.port, addresses: [server.authority])
                }
            }
        }
    }

    /// The requests at all servers, but those that were answered by a challenge.
    var arrived: [Arrived] {
        setups.flatMap { setup in
            let all = servers[setup.name]?.requests ?? []
            var used: [Int] = []
            for request in all where !used.contains(request.connection) { used.append(request.connection) }
            return all.filter { request in setup.challenge.map { request.headers[$0.field] != nil } ?? true }
                .map { request in
                    Arrived(
                        server: setup.name,
                        line: line(of: request),
                        request: request,
                        connection: used.firstIndex(of: request.connection) ?? 0
                    )
                }
        }
        .sorted { $0.request.order < $1.request.order }
    }

    private func line(of request: RequestRecord) -> String {
        servers.reduce("\(request.method) \(request.target)") { line, server in
            line.replacing(server.value.authority, with: "{\(server.key)}")
        }
    }

    /// Compares what came on the connections besides requests, and how the client ended them.
    func connectionDifferences(_ wanted: ExchangeVector.Expectation) async -> [Difference] {
        var found: [Difference] = []
        for name in wanted.exact + wanted.notified {
            guard let server = servers[name] else { continue }
            _ = try? await server.waitUntil(within: .seconds(2)) { $0.allSatisfy { $0.end != nil } }
            for record in server.records {
                if wanted.exact.contains(name) {
                    found += record.strays
                    // Over TLS an alert comes.
                    let late = record.tls == nil ? record.lateByteCount : 0
                    found += Difference.between("bytes behind the end", expected: 0, got: late)
                }
                // One on which no session was made has no alert to close it with.
                if wanted.notified.contains(name), record.tls != nil,
                    record.end == .clientCut || record.end == .clientReset
                {
                    found.append(Difference(what: "end", expected: "close_notify", got: "none"))
                }
            }
        }
        return found
    }
}

extension ConnectionRecord {
    /// The bytes that belong to no request, and what is wrong with the content of those that do.
    fileprivate var strays: [Difference] {
        var (rest, found) = (received, [Difference]())
        for request in requests {
            // The server passes over line ends before a head.
            guard rest.starts(with: request.head.drop { $0 == 13 || $0 == 10 }) else { break }
            let content = SentHead(rest).content
            found += content.faults
            rest = Array(content.rest)
        }
        guard !rest.isEmpty else { return found }
        return found + [Difference(what: "bytes besides requests", expected: "none", got: rest.latin1)]
    }
}

/// Gives the answers of a server in turn.
private final class AnswerScript: Sendable {
    private let setup: ExchangeVector.Server
    private let answered = Locked(0)

    init(_ setup: ExchangeVector.Server) {
        self.setup = setup
    }

    /// - Parameter places: The addresses of all servers by the hosts that lead to them.
    func answer(_ request: FixtureRequest, places: [String: String]) throws -> FixtureReply {
        if let challenge = setup.challenge, request.headers[challenge.field] == nil {
            _ = try request.body
            return .raw(challenge.answer)
        }
        let index = answered.withLock { count in
            count += 1
            return count - 1
        }
        guard let next = index < setup.answers.count ? setup.answers[index] : setup.lastAnswer else {
            _ = try request.body
            let content = request.method == "HEAD" ? "" : "ok"
            return .raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\(content)")
        }
        switch next {
        case .bytes(let bytes, let ending):
            _ = try request.body
            return .raw(bytes, then: ending)
        case .early(let bytes): return .raw(bytes)
        case .script(let script): return .script(script)
        case .tunnel(let bytes):
            guard let place = places[request.target.lowercased()] else {
                return .raw("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
            }
            return .tunnel(bytes, to: place)
        }
    }
}
