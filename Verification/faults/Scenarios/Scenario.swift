internal import DirectCore
internal import DirectHTTP
internal import DirectIO
internal import DirectProxy
internal import TLSFixtures

/// A use of the client in which calls of the system fail.
struct Scenario: Sendable {
    let name: String
    /// Whether the secret of its requests must never be sent in the clear.
    var isSecret = false
    /// The number of connections that are not the client's own, such as a resolver's.
    var hiddenConnections = 0
    /// Makes files, and whatever else the client finds.
    var prepare: @Sendable (ScenarioRun) throws -> Void = { _ in }
    /// Uses the client, while a call fails.
    let perform: @Sendable (ScenarioRun) async throws -> Void
    /// Uses the client again, without faults. `nil` performs the same again.
    var again: (@Sendable (ScenarioRun) async throws -> Void)?
    /// What is wrong with the files at the end.
    var inspect: @Sendable (ScenarioRun) -> [String] = { _ in [] }
    /// Whether it is about files that a process leaves to the next one: it is also killed and stopped at each
    /// of its calls for files.
    var leavesFiles = false
    /// Uses the client beside a process that is stopped, and after one that was killed. `nil` performs the
    /// same.
    var beside: (@Sendable (ScenarioRun) async throws -> Void)?
    /// What is wrong with the files of a process that was killed. `nil` for the same as at the end.
    var inspectRemains: (@Sendable (ScenarioRun) -> [String])?
    /// Whether a process may find, when it goes on, that another one has done the same.
    var mayBeOvertaken = false
    /// Whether OpenSSL starts in this scenario: what it cannot make then, it does not try to make again, so
    /// the next use may fail in the same way. It must not crash, and its error must be typed.
    var startsOpenSSL: Bool { needsOwnProcess }
    /// Whether it is about the first use in a process, so that each run needs a process of its own.
    var needsOwnProcess = false
    /// The functions whose faults are of interest; `nil` for all.
    var functions: Set<String>?

    static let all = connecting + transferring + keeping
}

/// The surroundings of one run: a client that is made when it is first used, and a folder.
final class ScenarioRun: @unchecked Sendable {
    let stage: Stage
    let folder: String
    /// The number of this run, for names that no earlier run has used.
    let number: Int
    /// The clients of the run by name; they live as long as it does.
    private var clients: [String: HTTPClient] = [:]
    /// The cache that the client uses, if the scenario keeps one in a folder.
    var cache: ResponseCache?
    /// The local proxy of the run, if the scenario has one.
    private(set) var proxy: LocalProxy?

    init(_ stage: Stage, number: Int) {
        self.stage = stage
        self.number = number
        folder = "\(stage.folder)/run-\(number)"
    }

    /// Returns the client of this name, and makes it the first time.
    func client(
        _ name: String = "client",
        _ configure: (inout HTTPClient.Configuration) throws -> Void = { _ in }
    ) throws -> HTTPClient {
        if let client = clients[name] { return client }
        var configuration = HTTPClient.Configuration()
        configuration.timeouts.queue = .milliseconds(300)
        // A client that reaches this limit waits for something that never happens, which is a finding.
        configuration.timeouts.response = .seconds(20)
        configuration.tls.roots = .only([.pemFile("\(stage.folder)/root.pem")])
        configuration.addresses = try addresses
        try configure(&configuration)
        let client = HTTPClient(configuration)
        clients[name] = client
        return client
    }

    /// Starts a proxy that knows the addresses of the servers' names.
    func startProxy() throws {
        var settings = LocalProxySettings()
        settings.addresses = try addresses
        // A target that takes no more may still have something to say. It gets less time than the client has.
        settings.limits.halfClosed = .seconds(1)
        let proxy = LocalProxy(settings)
        try proxy.start()
        self.proxy = proxy
    }

    /// The number of connections that the clients keep open.
    var connections: Int {
        clients.values.reduce(0) { sum, client in
            sum + client.connections.reduce(0) { $0 + $1.connections.count }
        }
    }

    private var addresses: StaticMap {
        get throws {
            var map = StaticMap()
            for name in ["plain.test", "secure.test"] { try map.set(["127.0.0.1"], for: HostPattern(name)) }
            return map
        }
    }

    func plain(_ path: String) -> String { "http://plain.test:\(stage.ports.plain)\(path)" }
    func secure(_ path: String) -> String { "https://secure.test:\(stage.ports.secure)\(path)" }
}

/// A response of the local proxy itself, with its line.
struct ProxyAnswer: Error {
    let line: String
}

/// A response that is not what the server sent.
struct WrongAnswer: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension HTTPClient {
    /// The request has this among its fields, so that it is noticed in the clear.
    static let secret = "the secret of the request"

    /// Requests the small text.
    func fetchSmall(_ url: String) async throws {
        let response = try await get(url, headers: ["X-Secret": Self.secret])
        try expect(response.text == "hello", "the small text is \(response.text ?? "?")")
    }

    /// Requests the large pattern, and reads it piece by piece.
    func fetchLarge(_ url: String) async throws {
        var request = Request(.get, url)
        request.headers["X-Secret"] = Self.secret
        let response = try await send(request)
        try expect(response.status == 200, "status \(response.status)")
        var count = 0
        for try await piece in response.body {
            try expect(FixturePattern.matches(piece.span, at: count), "other bytes at \(count)")
            count += piece.count
        }
        try expect(count == Replies.largeSize, "\(count) bytes of \(Replies.largeSize)")
    }
}

/// Throws if the answer is wrong.
func expect(_ isRight: Bool, _ otherwise: @autoclosure () -> String) throws {
    if !isRight { throw WrongAnswer(otherwise()) }
}
