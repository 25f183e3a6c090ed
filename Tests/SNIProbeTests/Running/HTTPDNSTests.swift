import DirectCore
import Foundation
import TLSFixtures
import Testing

@testable import DirectResolvers
@testable import SNIProbe

@Suite("Resolvers of HTTPDNS services")
struct HTTPDNSTests {
    private let root = TestAuthority()

    /// A server for `a.test` at one address, and the file with its root.
    private func origin() throws -> FixtureServer {
        try FixtureServer.start(.tls(root.certificate(for: "a.test")), on: "127.0.0.2") { _ in .text("") }
    }

    /// Runs the program with a file that has the root.
    private func run(_ words: [String], _ environment: [String: String]) async throws -> Program.Result {
        let file = NSTemporaryDirectory() + "root-\(UUID().uuidString).pem"
        try root.rootPEM.write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        return try await Program.run(words + ["--ca", file, "--json"], environment: environment)
    }

    /// A server as Alibaba's, which refuses a question without the right signature, as the service does.
    private func alibaba(secret: String, _ addresses: String) throws -> FixtureServer {
        try FixtureServer.start(.tls(root.certificate(for: "127.0.0.1"))) { request in
            let target = request.target
            guard target.hasPrefix("/139450/sign_d?host=a.test&query=4,6&t="),
                let end = target.split(separator: "&t=").last?.prefix(while: \.isNumber),
                let digest = MessageDigest.md5.digest(of: Array("a.test-\(secret)-\(end)".utf8)),
                target.hasSuffix("&s=\(Hex.encode(digest))")
            else { return .text(#"{"code":"InvalidSignature"}"#, status: 403) }
            return .text(#"{"host":"a.test","ips":[\#(addresses)],"ipsv6":[],"ttl":57,"origin_ttl":120}"#)
        }
    }

    @Test("Alibaba's service is asked with a signature, by the secret of the environment or of a file")
    func alibabaAnswers() async throws {
        let origin = try origin()
        let service = try alibaba(secret: "k3y", #""127.0.0.2""#)
        let file = NSTemporaryDirectory() + "secret-\(UUID().uuidString)"
        try "k3y\n".write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let words = ["a.test:\(origin.port)", "--resolver", "alibaba://139450@\(service.authority)"]
        for environment in [["SNI_PROBE_ALIBABA_SECRET": "k3y"], ["SNI_PROBE_ALIBABA_SECRET_FILE": file]] {
            let result = try await run(words, environment)
            #expect(result.code == 0, "\(result.errors)")
            #expect(result.output.contains(#""ip":"127.0.0.2""#))
            #expect(result.output.contains(#""resolver":"alibaba@\#(service.authority)","gives_ip":true"#))
            #expect(result.output.contains(#""ttl":57"#))
            #expect(!(result.output + result.errors).contains("k3y"))
            #expect(!(result.output + result.errors).contains("139450"))
        }
    }

    @Test("A wrong secret is the service's refusal, and the secret is not shown")
    func alibabaRefuses() async throws {
        let service = try alibaba(secret: "k3y", #""127.0.0.2""#)
        let words = ["a.test", "--resolver", "alibaba://139450@\(service.authority)"]
        let result = try await run(words, ["SNI_PROBE_ALIBABA_SECRET": "wr0ng"])
        #expect(result.code == 6)
        #expect(result.output.contains("the server refused: HTTP status 403, InvalidSignature"))
        #expect(!(result.output + result.errors).contains("wr0ng"))
    }

    @Test("DNSPod's service is asked with the account and its token, and differs from another resolver")
    func dnspodAnswers() async throws {
        let port = try SharedPort(on: ["127.0.0.2", "127.0.0.3"])
        let good = try FixtureServer.start(
            .tls(root.certificate(for: "a.test")),
            on: "127.0.0.2",
            port: port.number
        ) { _ in .text("") }
        let wrong = try FixtureServer.start(
            .tls(root.certificate(for: "b.test")),
            on: "127.0.0.3",
            port: port.number
        ) { _ in .text("") }
        let service = try FixtureServer.start(.tls(root.certificate(for: "127.0.0.1"))) { request in
            switch request.target {
            case "/d?dn=a.test&ttl=1&id=12&token=t0ken": .text("127.0.0.2;127.0.0.3,600")
            case "/d?dn=a.test&ttl=1&type=aaaa&id=12&token=t0ken": .text("")
            default: .text("", status: 403)
            }
        }
        let alibaba = try alibaba(secret: "k3y", #""127.0.0.2""#)
        let words = [
            "a.test:\(good.port)", "--resolver", "dnspod://12@\(service.authority)", "--resolver",
            "alibaba://139450@\(alibaba.authority)",
        ]
        let result = try await run(
            words,
            ["SNI_PROBE_DNSPOD_TOKEN": "t0ken", "SNI_PROBE_ALIBABA_SECRET": "k3y"]
        )
        #expect(result.code == 60, "\(result.errors)")
        #expect(wrong.records.isEmpty == false)
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.last?.contains("Only users of dnspod@\(service.authority) get 127.0.0.3") == true)
        #expect(lines.last?.contains(#""ttl":600"#) == true, "\(result.output)")
        #expect(!(result.output + result.errors).contains("t0ken"))
    }

    @Test("A service whose certificate is not for its IP is no resolver, and its answer is not used")
    func wrongService() async throws {
        let service = try FixtureServer.start(.tls(root.certificate(for: "dnspod.test"))) { _ in
            .text("127.0.0.2,600")
        }
        let result = try await run(["a.test", "--resolver", "dnspod://\(service.authority)"], [:])
        #expect(result.code == 6)
        #expect(service.requests.isEmpty)
    }
}
