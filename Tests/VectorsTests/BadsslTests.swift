import DirectTestCommands
import Foundation
import Testing

@testable import tls_fixtures

/// openssl judges each case, and curl and Python some.
private let hasTools = ["openssl", "curl", "python3"].allSatisfy { tool in
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
        FileManager.default.isExecutableFile(atPath: "\($0)/\(tool)")
    }
}

@Suite("The local badssl", .idleLimit, .enabled(if: hasTools))
struct BadsslTests {
    private static let place = Result { try Place() }

    /// A server, with its files.
    private final class Place: Sendable {
        let folder = NSTemporaryDirectory() + "badssl-" + UUID().uuidString
        let served: BadsslServer

        init() throws {
            served = try BadsslServer(BadsslServer.Options(files: folder))
            try served.writeFiles()
        }
    }

    /// What openssl has to print for a case: all of these texts, after these arguments of s_client.
    struct Fact: CustomTestStringConvertible, Sendable {
        let labels: String
        let arguments: String
        let wanted: [String]
        /// What the output of s_client is piped to.
        var then = "cat"

        var testDescription: String { labels }

        init(_ labels: String, _ arguments: String = "", _ wanted: String..., then: String = "cat") {
            (self.labels, self.arguments, self.wanted, self.then) = (labels, arguments, wanted, then)
        }

        /// The certificate's own text.
        static func text(_ labels: String, _ wanted: String, _ arguments: String = "") -> Fact {
            Fact(labels, arguments, wanted, then: "openssl x509 -noout -text")
        }
    }

    private static let weak = "-cipher ALL:COMPLEMENTOFALL:@SECLEVEL=0"
    private static let dhe = "\(weak) -tls1_2"

    static let facts = [
        Fact("expired", "", "Verify return code: 10 "), Fact("not-yet-valid", "", "Verify return code: 9 "),
        Fact("wrong.host", "", "Verify return code: 62 "), Fact("self-signed", "", "Verify return code: 18 "),
        Fact("no-common-name", "", "Verify return code: 0 ", "subject=O=Local badssl\n"),
        Fact("no-subject", "", "Verify return code: 0 ", "subject=\n"),
        Fact("only-common-name", "", "none", then: "openssl x509 -noout -text | grep -q DNS: || echo none"),
        .text("only-common-name", "Subject: CN=only-common-name.badssl.test"),
        Fact("wrong-purpose", "", "Verify return code: 26 "),
        Fact("rsa1024", weak, "Server public key is 1024 bit"),
        Fact("sha1-2017", "", "Verify return code: 68 "),
        .text("sha256", "Signature Algorithm: ecdsa-with-SHA256"),
        .text("sha384", "Signature Algorithm: ecdsa-with-SHA384"),
        .text("sha512", "Signature Algorithm: ecdsa-with-SHA512"),
        Fact("ecc256", "", "Verify return code: 0 ", "Server public key is 256 bit"),
        Fact("ecc384", "", "Verify return code: 0 ", "Server public key is 384 bit"),
        Fact("rsa2048", "", "Verify return code: 0 ", "Server public key is 2048 bit"),
        Fact("rsa4096", "", "Verify return code: 0 ", "Server public key is 4096 bit"),
        Fact("1000-sans", "", "1000\n", then: "openssl x509 -noout -text | grep -o DNS: | wc -l"),
        Fact("10000-sans", "", "excessive message size"),
        Fact("untrusted-root", "", "Verify return code: 19 "),
        Fact("incomplete-chain", "", "Verify return code: 21 "),
        Fact("incomplete-chain", "-showcerts", "1\n", then: "grep -c BEGIN"),
        Fact("sha1-intermediate", "", "Verify return code: 68 "),
        Fact("chain-of-eight", "-showcerts", "Verify return code: 0 "),
        Fact("chain-of-eight", "-showcerts", "8\n", then: "grep -c BEGIN"),
        Fact("name-constraint", "", "Verify return code: 47 "),
        Fact("path-length", "", "Verify return code: 25 "),
        Fact("not-an-authority", "", "verify error:num=79:", "Verify return code: "),
        Fact("client", "-quiet", "HTTP/1.1 400 "),
        Fact("client", "-quiet -cert FOLDER/client.pem", "HTTP/1.1 200 "),
        Fact("client-cert-missing", "-quiet", "alert certificate required"),
        Fact("client-cert-missing", "-quiet -cert FOLDER/client.pem", "HTTP/1.1 200 "),
        Fact("revoked", "-status", "Cert Status: revoked", "Verify return code: 0 "),
        .text("revoked", "URI:http://127.0.0.1:"),
        Fact("must-staple", "-status", "OCSP response: no response sent"),
        .text("must-staple", "TLS Feature: \n                status_request"),
        Fact("tls-v1-0", "\(weak) -tls1", "Protocol  : TLSv1\n"),
        Fact("tls-v1-0", "\(weak) -tls1_1", "unsupported protocol"),
        Fact("tls-v1-1", "\(weak) -tls1_1", "Protocol  : TLSv1.1\n"),
        Fact("tls-v1-1", "\(weak) -tls1_2", "unsupported protocol"),
        Fact("tls-v1-2", "", "Protocol  : TLSv1.2\n", "Verify return code: 0 "),
        Fact("tls-v1-2", "-tls1_3", "alert protocol version"),
        Fact("rc4", "", "unknown cipher returned"), Fact("rc4-md5", "", "unknown cipher returned"),
        Fact("3des", "", "unknown cipher returned"),
        Fact("null", "-cipher NULL-SHA256:@SECLEVEL=0", "Cipher is NULL-SHA256\n"),
        Fact("null", "", "alert handshake failure"), Fact("cbc", "", "Cipher is ECDHE-ECDSA-AES128-SHA\n"),
        Fact("static-rsa", "", "Cipher is AES128-GCM-SHA256\n"),
        Fact("dh1024", dhe, "Temp Key: DH, 1024 bits"),
        Fact("dh512", "", "dh key too small"), Fact("dh1024", "", "dh key too small"),
        Fact("dh2048", "", "Temp Key: DH, 2048 bits", "Verify return code: 0 "),
        Fact("dh-composite", "", "Temp Key: DH, 2048 bits", "Verify return code: 0 "),
        Fact("dh-small-subgroup", "", "bad dh value"),
        Fact("", "", "Verify return code: 0 "),
        Fact("mozilla-modern", "", "Verify return code: 0 "),
        Fact("mozilla-modern", "-tls1_2", "alert protocol version"),
        Fact("mozilla-intermediate", "-tls1_2", "Verify return code: 0 ", "Cipher is ECDHE-ECDSA-"),
        Fact("mozilla-old", "\(weak) -tls1", "Protocol  : TLSv1\n"),
        Fact("hsts", "-quiet", "Strict-Transport-Security: max-age=15768000\r\n"),
    ]

    @Test("Each case is what it says, as openssl sees it", arguments: facts)
    func fact(_ fact: Fact) async throws {
        // From 3.2 on openssl writes names without spaces around the sign.
        let output = try await Self.ask(fact.labels, fact.arguments, then: fact.then)
            .replacing(" = ", with: "=")
        for wanted in fact.wanted { #expect(output.contains(wanted), "\(output)") }
    }

    @Test("openssl looks at every case")
    func all() {
        #expect(Set(Self.facts.map(\.labels)) == Set(BadsslCase.all.map(\.labels)))
        #expect(Set(BadsslCase.all.map(\.labels)).count == BadsslCase.all.count)
    }

    @Test(
        "A suite that OpenSSL has not is named by its number",
        arguments: [("rc4", "00 05"), ("rc4-md5", "00 04"), ("3des", "00 0a")]
    )
    func suites(_ labels: String, _ number: String) async throws {
        let message = try await Self.message("ServerHello", of: labels)
        // Head, version, random number, no session; then the suite, no compression and no more.
        #expect(message.dropFirst(4 + 2 + 32 + 1).joined(separator: " ") == "\(number) 00")
    }

    @Test("The group of dh512 is a prime of 512 bits")
    func smallGroup() async throws {
        let modulus = try await Self.group(of: "dh512").modulus
        #expect(modulus.count == 128)
        #expect(try await Self.run("openssl prime -hex \(modulus)").hasSuffix(") is prime\n"))
    }

    @Test("The group of dh-composite is no prime, and the generator of dh-small-subgroup has order 2")
    func badGroups() async throws {
        let composite = try await Self.group(of: "dh-composite")
        let small = try await Self.group(of: "dh-small-subgroup")
        let judged = try await Self.run("openssl prime -hex \(composite.modulus) \(small.modulus)")
        let lines = judged.split(separator: "\n")
        #expect(lines.count == 2 && lines[0].hasSuffix("is not prime") && lines[1].hasSuffix(") is prime"))
        // Minus one: the prime is odd.
        #expect(small.generator.dropLast() == small.modulus.dropLast() && small.generator != small.modulus)
        #expect(small.generator.last == "e" && small.modulus.last == "f")
    }

    @Test("The revocation list on the port is the root's, and names the certificate")
    func revocationList() async throws {
        let place = try Self.place.get()
        let files = place.folder + "/revoked"
        let certificate = try await Self.ask("revoked", "", then: "openssl x509")
        try certificate.write(toFile: "\(files).pem", atomically: true, encoding: .utf8)
        let output = try await Self.run(
            """
            curl -sS http://\(place.served.house.authority)/revoked.crl > \(files).crl
            openssl verify -crl_check -CAfile \(place.folder)/root.pem -CRLfile \(files).crl \(files).pem 2>&1
            """
        )
        #expect(output.contains("error 23 "), "\(output)")
    }

    @Test("HTTP and the list of cases are on the same port, and a name that is no case is refused")
    func plain() async throws {
        let place = try Self.place.get()
        let text = try await Self.run("curl -sS http://\(place.served.house.authority)/")
        #expect(text == "http.badssl.test\n")
        #expect(
            try await Self.run("curl -sS http://\(place.served.house.authority)/cases") == place.served.list
        )
        #expect(try await Self.ask("no-such-case", "").contains("unrecognized name"))
    }

    @Test("The server tells whether a client asked, refused, or went on to the key exchange")
    func verdicts() async throws {
        // A server of its own, whose connections are only these.
        let served = try BadsslServer(BadsslServer.Options(suffix: "own.test"))
        let script = """
            import socket, ssl, urllib.request
            at = "\(served.house.authority)"
            def hello(name):
                context, out = ssl._create_unverified_context(), ssl.MemoryBIO()
                wire = context.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name + ".own.test")
                try: wire.do_handshake()
                except ssl.SSLWantReadError: return out.read()
            def answer(name, data):
                host, port = at.split(":")
                with socket.create_connection((host, int(port))) as peer:
                    peer.sendall(hello(name))
                    peer.recv(1)
                    peer.sendall(data)
                    while peer.recv(65536): pass
            answer("rc4", bytes([22, 3, 3, 0, 6, 16, 0, 0, 2, 0, 0]))
            answer("3des", bytes([21, 3, 3, 0, 2, 2, 47]))
            context = ssl._create_unverified_context()
            with context.wrap_socket(socket.create_connection(at.split(":")), server_hostname="own.test") as peer:
                peer.sendall(b"GET / HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n")
                while peer.recv(65536): pass
            while True:
                text = urllib.request.urlopen(f"http://{at}/verdicts").read().decode()
                if text.count("\\n") == 3: break
            print(text)
            """
        let path = NSTemporaryDirectory() + "verdicts-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        try script.write(toFile: path, atomically: true, encoding: .utf8)
        let output = try await Self.run("python3 \(path)")
        #expect(output.contains(#""name":"rc4.own.test","did":"went on""#), "\(output)")
        #expect(output.contains(#""name":"3des.own.test","did":"refused""#), "\(output)")
        #expect(output.contains(#""name":"own.test","did":"asked""#), "\(output)")
        served.stop()
    }

    @Test(
        "A command line that does not fit is refused",
        arguments: [
            ["serve", "--badssl", "--suffix", "a..b"], ["serve", "--badssl", "--listen", "localhost:1"],
            ["serve", "--badssl", "--name", "a"], ["serve", "--suffix", "a.test"],
            ["serve", "--badssl", "--files"],
        ]
    )
    func misuse(_ arguments: [String]) async {
        #expect(await Command.status(for: arguments) == 2)
    }

    @Test("Other addresses than loopback are not listened on")
    func beyond() async {
        #expect(await Command.status(for: ["serve", "--badssl", "--listen", "192.0.2.1:8443"]) == 1)
    }

    /// Makes a handshake and a request with s_client, and pipes what it prints.
    private static func ask(_ labels: String, _ arguments: String, then: String = "cat") async throws
        -> String
    {
        let place = try place.get()
        let name = place.served.house.name(labels)
        let request = "GET / HTTP/1.1\\r\\nHost: \(name)\\r\\nConnection: close\\r\\n\\r\\n"
        let own = arguments.replacing("FOLDER", with: place.folder)
        return try await run(
            """
            printf '\(request)' | openssl s_client -connect \(place.served.house.authority) -servername \(name) \
            -verify_hostname \(name) -CAfile \(place.folder)/root.pem -ign_eof \(own) 2>&1 | \(then)
            """
        )
    }

    /// The bytes of a handshake message that the server sends, in hexadecimal.
    private static func message(_ kind: String, of labels: String) async throws -> [Substring] {
        let lines = try await ask(labels, "-msg \(dhe)").split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        let start = try #require(lines.firstIndex { $0.hasPrefix("<<<") && $0.hasSuffix(kind) })
        let hex = lines[(start + 1)...].prefix { $0.hasPrefix("    ") }
        return hex.flatMap { $0.split(separator: " ") }
    }

    private static func group(of labels: String) async throws -> (modulus: String, generator: String) {
        var rest = try await message("ServerKeyExchange", of: labels).dropFirst(4)
        func vector() throws -> String {
            let count = try #require(Int(rest.prefix(2).joined(), radix: 16))
            defer { rest = rest.dropFirst(2 + count) }
            return rest.dropFirst(2).prefix(count).joined()
        }
        return (try vector(), try vector())
    }

    private static func run(_ script: String) async throws -> String {
        let outcome = await onThread { ShellCommand.run(script, within: .seconds(120)) }
        return String(decoding: outcome.output, as: UTF8.self)
    }
}
