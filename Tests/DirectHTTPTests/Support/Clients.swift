import DirectCore
import DirectIO
import DirectTLS
import DirectTestTime
import TLSFixtures
import Testing

@testable import DirectHTTP
@testable import DirectTransport

/// One authority for all suites: keys take their time to make.
let testAuthority = TestAuthority()

extension HTTPClient {
    /// A client for which no time passes: no limit ends anything, however busy the machine is.
    static func untimed() -> HTTPClient { untimed { _ in } }

    static func untimed(_ configure: (inout Configuration) throws -> Void) rethrows -> HTTPClient {
        var settings = Configuration()
        settings.loop = .still
        try configure(&settings)
        return HTTPClient(settings)
    }

    /// The same, trusting the tests' authority alone.
    static func trusting(_ configure: (inout Configuration) -> Void = { _ in }) -> HTTPClient {
        let client = untimed { settings in
            settings.tls.roots = .only([.der(testAuthority.rootDER)])
            configure(&settings)
        }
        // The first call would wait for it, and a test that lets time pass would end that wait.
        let tls = client.pipeline.transport.dialler.profiles.base.tls
        if client.configuration.tls.firstFile == nil { _ = tls.current() }
        return client
    }
}

extension HeldTime {
    /// A client whose time the test lets pass; it trusts the tests' authority alone.
    func client(_ configure: (inout HTTPClient.Configuration) -> Void = { _ in }) -> HTTPClient {
        .trusting { settings in
            settings.loop = loop
            configure(&settings)
        }
    }
}

extension FixtureServer {
    /// A TLS server for these names, answering every request.
    static func secure(
        _ names: String...,
        on address: String = "127.0.0.1",
        _ handler: @escaping FixtureHandler = { _ in .text("hello") }
    ) throws -> FixtureServer {
        let certificates = names.map { testAuthority.certificate(for: $0) }
        return try start(.tls(certificates: certificates), on: address, handler: handler)
    }

    /// A server that follows the script on every connection.
    static func scripted(
        _ script: ByteScript,
        _ security: FixtureSecurity = .plain,
        on address: String = "127.0.0.1"
    ) throws -> FixtureServer {
        try start(security, on: address, behaviour: .bytes(script))
    }

    /// Address and port.
    var endpoint: Endpoint { Endpoint(stringLiteral: authority) }

    func http(_ path: String = "/") -> String { "http://\(authority)\(path)" }

    func https(_ name: String, _ path: String = "/") -> String { "https://\(name):\(port)\(path)" }

    /// A request for the name that is sent to this server.
    func request(_ url: String, _ method: DirectHTTP.HTTPMethod = .get, body: RequestBody = .none) -> Request
    {
        var request = Request(method, url, body: body)
        request.addresses = [endpoint]
        return request
    }
}

extension RequestRecord {
    var host: String? { headers["host"] }
}

/// The error that the operation has to throw.
func httpError(
    _ sourceLocation: SourceLocation = #_sourceLocation,
    _ operation: () async throws -> some Any
) async throws -> HTTPError {
    try #require(
        await #expect(throws: HTTPError.self, sourceLocation: sourceLocation) { _ = try await operation() },
        sourceLocation: sourceLocation
    )
}

extension HTTPError {
    var tlsError: TLSError? { if case .tls(let error) = reason { error } else { nil } }
    var protocolError: HTTP1Error? { if case .http(let error) = reason { error } else { nil } }
    var authenticationError: AuthenticationError? {
        if case .authenticator(let error) = reason { error as? AuthenticationError } else { nil }
    }
    var systemError: SystemError? { if case .system(let error) = reason { error } else { nil } }
    var isTimeout: Bool { if case .timedOut = reason { true } else { false } }
    var certificateFault: CertificateFault? {
        if case .certificateRejected(let fault)? = tlsError { fault } else { nil }
    }
}
