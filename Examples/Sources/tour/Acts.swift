import DirectHTTP
import TLSFixtures

/// The parts of the tour, in the order in which they are shown.
struct Acts {
    private let stage: Stage
    private let page: Page
    private let client: HTTPClient

    init(_ stage: Stage, _ page: Page) {
        self.stage = stage
        self.page = page
        client = stage.client()
    }

    func perform() async throws {
        try await chosenAddresses()
        try await keptConnections()
        try await staticMap()
        try await deadAddress()
        try await wrongCertificate()
        try await certificateForTheAddress()
    }

    private func chosenAddresses() async throws {
        page.act(
            "A name of your choice, at an address of your choice",
            code: "var request = Request(.get, \"\(stage.url("red.test"))\")",
            "request.addresses = [\"\(Stage.first)\"]",
            "let response = try await client.fetch(request)"
        )
        page.answers()
        try await ask("red.test", at: Stage.first, with: client)
        try await ask("amber.test", at: Stage.first, with: client)
        try await ask("green.test", at: Stage.second, with: client)
        try await ask("red.test", at: Stage.second, with: client)
        try await ask("red.test", at: Stage.first, with: client, isReused: true)
        page.note(
            """

            An address with two names shows two certificates; a name at two addresses
            reaches two servers. Only the name decides which certificate is valid.
            """
        )
    }

    private func keptConnections() async throws {
        page.act("Connections are reused, for the name they were opened for")
        let server = try stage.server(at: Stage.first)
        let before = server.records.count
        let count = 200
        let request = try stage.request("red.test", at: [Stage.first])
        let start = ContinuousClock.now
        for _ in 0..<count {
            let response = try await client.fetch(request)
            let isReused = response.transaction?.isReused == true
            page.promise("a request reuses the connection", response.status == .ok && isReused)
        }
        let each = ((ContinuousClock.now - start) / count).short
        let opened = server.records.count - before
        page.shown(
            "\(count) more requests to red.test: \(opened) new connections, \(each) each",
            opened == 0
        )
    }

    private func staticMap() async throws {
        let entries = ["red.test:\(stage.port):\(Stage.second)", "*.test:\(stage.port):\(Stage.first)"]
        page.act(
            "The same for a whole client, written as for curl's --resolve",
            code: "let client = HTTPClient { $0.addresses = map }     // where map is",
            "try StaticMap(curl: [\"\(entries[0])\",",
            "                     \"\(entries[1])\"])"
        )
        let client = stage.client(try StaticMap(curl: entries))
        page.answers()
        try await ask("red.test", at: Stage.second, with: client, by: .staticMap)
        try await ask("amber.test", at: Stage.first, with: client, by: .staticMap)
    }

    private func deadAddress() async throws {
        page.act(
            "If an address is dead, the next one is tried",
            code: "request.addresses = [\"\(Stage.dead)\", \"\(Stage.first)\"]"
        )
        // A separate client: the other one has an open connection and would not dial.
        let client = stage.client()
        page.answers()
        let transaction = try await ask("amber.test", at: Stage.first, insteadOf: Stage.dead, with: client)
        let failed = transaction.failedAttempts
        for attempt in failed {
            page.note("failed before: \(attempt.endpoint): \(attempt.reason), \(attempt.elapsed.short)")
        }
        page.promise(
            "the dead address was tried first, and is reported",
            failed.map(\.endpoint.address.description) == [Stage.dead] && failed.allSatisfy(\.wasRefused)
        )
    }

    private func wrongCertificate() async throws {
        page.act(
            "A certificate for another name is refused",
            code: "\(stage.url("green.test")) at \(Stage.first), which serves red and amber"
        )
        try await expectRefusal(of: "green.test", at: [Stage.first], served: "red.test")
    }

    private func certificateForTheAddress() async throws {
        page.act(
            "A certificate for the dialled address is refused: the usual trap",
            code: "request.addresses = [\"\(Stage.impostor)\", \"\(Stage.first)\"]"
        )
        try await expectRefusal(of: "red.test", at: [Stage.impostor, Stage.first], served: Stage.impostor)
        page.note(
            """
            The next address was not tried: a wrong certificate is not a network
            failure and must not be hidden. In a URL with that address, such as
            \(stage.url(Stage.impostor)), the same certificate is valid:

            """
        )
        let response = try await client.get(stage.url(Stage.impostor))
        page.answers()
        let seen = try show(response, Stage.impostor, at: Stage.impostor)
        page.promise("a URL may name an address", response.status == .ok)
        page.promise(
            "an address is never sent as SNI",
            seen.serverName == nil,
            "saw \(seen.serverName ?? "")"
        )
    }

    /// Sends a request for a name to an address, prints a row, and checks it at the client and at the server.
    @discardableResult
    private func ask(
        _ name: String,
        at address: String,
        insteadOf dead: String? = nil,
        with client: HTTPClient,
        by source: AddressSource = .request,
        isReused: Bool = false
    ) async throws -> HTTPTransaction {
        let addresses = (dead.map { [$0] } ?? []) + [address]
        let request = try stage.request(name, at: source == .request ? addresses : nil)
        let response = try await client.fetch(request)
        let seen = try show(response, name, at: address)
        guard let transaction = response.transaction else { throw Missing(what: "a transaction") }
        page.promise("\(name) answers", response.status == .ok)
        page.promise(
            "it is the server at \(address)",
            response.text == "Hello, \(name)! This is \(address).\n",
            response.text ?? "no text"
        )
        page.promise("SNI is the name", seen.serverName == name)
        page.promise("Host is the name", seen.headers["Host"] == "\(name):\(stage.port)")
        page.promise("the transaction has the name", transaction.name == name, transaction.name)
        page.promise(
            "it has the address",
            transaction.endpoint == (try Endpoint("\(address):\(stage.port)")),
            "\(transaction.endpoint as Any)"
        )
        page.promise("it has the address's source", transaction.source == source, "\(transaction.source)")
        page.promise("the connection is reused when it should be", transaction.isReused == isReused)
        page.promise("TLS is 1.3", transaction.tls?.version == .tls13)
        return transaction
    }

    /// Prints a row. Its certificate is the name for which the client has accepted one.
    private func show(_ response: HTTPClient.BufferedResponse, _ name: String, at address: String) throws
        -> RequestRecord
    {
        let seen = try stage.lastRequest(at: address)
        page.answer(
            Row(
                name,
                address,
                sni: seen.serverName ?? "none",
                host: seen.headers["Host"] ?? "none",
                "\(name)",
                "\(response.status.code) \(response.how)"
            )
        )
        return seen
    }

    /// Sends a request that has to fail in the handshake with its first address, and checks that it does.
    private func expectRefusal(of name: String, at addresses: [String], served: String) async throws {
        var request = try stage.request(name, at: addresses)
        request.headers.add("Authorization", "Bearer never-sent")
        do {
            let response = try await stage.client().fetch(request)
            page.promise("\(name) is refused", false, "the response was \(response.status.code)")
        } catch let error as HTTPError {
            page.shown("refused: \(error.inLines)", error.isNameMismatch(expected: name, served: served))
            page.promise("only the first address was tried", error.attempts.count == 1)
            let record = try await stage.refusedConnection(at: addresses[0], for: name)
            page.shown(
                "the server saw SNI \(record.serverName ?? "none") and no byte of the request",
                record.serverName == name && record.receivedCount == 0 && record.requests.isEmpty
            )
        }
    }
}

extension HTTPClient.BufferedResponse {
    /// How the response was obtained: on a reused or a new connection, and in what time.
    fileprivate var how: String {
        guard let transaction else { return "from the cache" }
        return "\(transaction.isReused ? "reused" : "new") \(transaction.responseTime.short)"
    }
}

extension Attempt {
    /// Whether the connection was refused.
    fileprivate var wasRefused: Bool {
        if case .system(let error) = reason { error.call == "connect" } else { false }
    }
}

extension HTTPError {
    /// The description, with a line break if it is too wide.
    fileprivate var inLines: String {
        let text = description
        guard let end = text.prefix(62).lastIndex(of: " ") else { return text }
        return "\(text[..<end])\n     \(text[text.index(after: end)...])"
    }

    /// Whether the certificate was valid, but for other names than the expected one.
    fileprivate func isNameMismatch(expected: String, served: String) -> Bool {
        guard phase == .tls, case .tls(.nameMismatch(expected, let names)) = reason else { return false }
        return names.contains(served)
    }
}
