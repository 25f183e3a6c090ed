import DirectCore
import DirectIO
import DirectResolvers
import DirectTestTime
import TLSFixtures
import Testing

/// One authority for all suites: keys take their time to make.
let testAuthority = TestAuthority()

extension ServiceSettings {
    /// Settings that trust the tests' authority only.
    static func trusting(_ configure: (inout ServiceSettings) -> Void = { _ in }) -> ServiceSettings {
        var settings = ServiceSettings()
        settings.tls.roots = .only([.der(testAuthority.rootDER)])
        // No answer is to lack a family because the machine was busy.
        settings.loop = .still
        configure(&settings)
        return settings
    }
}

extension HTTPClient {
    /// A client for which no time passes, and which trusts the tests' authority only.
    static func trusting(_ configure: (inout Configuration) -> Void) -> HTTPClient {
        HTTPClient { settings in
            settings.tls.roots = .only([.der(testAuthority.rootDER)])
            settings.loop = .still
            configure(&settings)
        }
    }
}

extension FixtureServer {
    /// Address and port.
    var endpoint: Endpoint { Endpoint(stringLiteral: authority) }

    /// A server without TLS that gives this text to every question.
    static func saying(_ text: String, status: Int = 200, _ headers: FixtureHeaders = [:]) throws
        -> FixtureServer
    {
        try start(.plain) { _ in .text(text, status: status, headers) }
    }

    /// A DoH server that answers every question with the records of its type.
    static func dns(
        _ security: FixtureSecurity = .plain,
        headers: FixtureHeaders = [:],
        answering answer: @escaping @Sendable ([UInt8]) -> DNSReply
    ) throws -> FixtureServer {
        try start(security) { request in
            var headers = headers
            headers.append("Content-Type", "application/dns-message")
            return .bytes(answer(try request.dnsMessage).bytes, headers)
        }
    }
}

extension FixtureRequest {
    /// The question of a DoH request, in either method.
    var dnsMessage: [UInt8] {
        get throws {
            if method == "POST" { return try body }
            let text = (query ?? "").split(separator: "=").last.map(String.init) ?? ""
            let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
            var bytes: [UInt8] = []
            var (bits, count) = (0, 0)
            for character in text {
                bits = bits << 6 | (alphabet.firstIndex(of: character) ?? 0)
                count += 6
                if count >= 8 {
                    count -= 8
                    bytes.append(UInt8(truncatingIfNeeded: bits >> count))
                }
            }
            return bytes
        }
    }
}

extension Resolver {
    func answer(_ host: String = "a.test", on loop: EventLoop = .still) async throws -> Resolution {
        try await resolve(DomainName(host), port: 443, context: ResolveContext(on: loop))
    }

    /// The words of the error that it has to throw.
    func complaint(_ sourceLocation: SourceLocation = #_sourceLocation) async throws -> String {
        let error = try await #require(
            #expect(throws: ResolverError.self, sourceLocation: sourceLocation) { try await answer() },
            sourceLocation: sourceLocation
        )
        return "\(error.reason)"
    }
}
