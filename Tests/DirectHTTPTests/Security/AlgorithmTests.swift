import DirectCore
import DirectHTTP
import DirectTestCommands
import Foundation
import DirectTLS
import TLSFixtures
import Testing

@Suite("Cipher suites, groups and the key log", .idleLimit)
struct AlgorithmTests {
    private let server: FixtureServer

    init() throws {
        server = try FixtureServer.secure("a.test")
    }

    private func facts(_ configure: (inout TLSSettings) -> Void) async throws -> TLSFacts? {
        let client = HTTPClient.trusting { configure(&$0.tls) }
        return try await client.fetch(server.request(server.https("a.test"))).transaction?.tls
    }

    private func reason(_ configure: (inout TLSSettings) -> Void) async throws -> String? {
        let error = try await httpError { try await facts(configure) }
        guard case .badSettings(let reason)? = error.tlsError else { return nil }
        return reason
    }

    @Test("Only the named suites are offered, and only the versions that have one")
    func suites() async throws {
        let new = try await facts { $0.cipherSuites = ["TLS_CHACHA20_POLY1305_SHA256"] }
        #expect(new?.cipher == "TLS_CHACHA20_POLY1305_SHA256" && new?.version == .tls13)
        #expect(server.records.last?.hello?.versions == [0x0304])
        let name = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
        let old = try await facts { $0.cipherSuites = [name] }
        #expect(old?.cipher == name && old?.version == .tls12)
        let both = try await facts { $0.cipherSuites = [name, "TLS_AES_128_GCM_SHA256"] }
        #expect(both?.cipher == "TLS_AES_128_GCM_SHA256")
    }

    @Test("Only the named groups are offered, in their order")
    func groups() async throws {
        #expect(try await facts { $0.groups = ["P-384"] }?.group == "secp384r1")
        #expect(try await facts { $0.groups = ["X25519", "P-256"] }?.group?.lowercased() == "x25519")
    }

    @Test("What cannot be offered is an error")
    func unusable() async throws {
        #expect(try await reason { $0.cipherSuites = [] } != nil)
        #expect(try await reason { $0.cipherSuites = ["TLS_NO_SUCH"] }?.contains("TLS_NO_SUCH") == true)
        #expect(try await reason { $0.cipherSuites = ["DEFAULT:!aNULL"] } != nil)
        #expect(
            try await reason {
                $0.cipherSuites = ["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"]
                $0.minimumVersion = .tls13
            } != nil
        )
        for bare in ["TLS_RSA_WITH_NULL_SHA256", "TLS_DH_anon_WITH_AES_128_GCM_SHA256"] {
            #expect(try await reason { $0.cipherSuites = [bare] } != nil)
        }
        #expect(try await reason { $0.groups = [] } != nil)
        #expect(try await reason { $0.groups = ["X25519:P-256"] } != nil)
        #expect(try await reason { $0.groups = ["nothing"] }?.contains("nothing") == true)
    }

    @Test("Settings that differ in these share neither a connection nor a session")
    func apart() async throws {
        let client = HTTPClient.trusting()
        let log = InsecureKeyLog { _ in }
        let changes: [@Sendable (inout TLSSettings) -> Void] = [
            { _ in }, { $0.cipherSuites = ["TLS_AES_128_GCM_SHA256"] }, { $0.groups = ["P-256"] },
            { $0.insecureKeyLog = log }, { $0.stapling = .reported },
            { $0.verifier = CertificateVerifier { _ in .accept } },
            { $0.insecureOverride = InsecureCertificateOverride { _ in false } },
        ]
        for change in changes {
            var request = server.request(server.https("a.test"))
            var tls = TLSSettings()
            tls.roots = .only([.der(testAuthority.rootDER)])
            change(&tls)
            request.tls = tls
            let transaction = try await client.fetch(request).transaction
            #expect(transaction?.isReused == false && transaction?.tls?.resumed == false)
            #expect(try await client.fetch(request).isReused)
        }
    }

    @Test(
        "The key log has the secrets of the client's connections, in a closure or in a file for the owner alone"
    )
    func keyLog() async throws {
        let lines = Locked<[String]>([])
        let log = InsecureKeyLog { line in lines.withLock { $0.append(line) } }
        _ = try await facts { $0.insecureKeyLog = log }
        let labels = lines.withLock { $0 }.compactMap { $0.split(separator: " ").first }
        #expect(labels.contains("CLIENT_TRAFFIC_SECRET_0") && labels.contains("SERVER_TRAFFIC_SECRET_0"))
        let folder = try TemporaryFolder()
        let path = folder.path + "/keys.log"
        let file = try InsecureKeyLog(appendingTo: path)
        for _ in 0..<2 { _ = try await facts { $0.insecureKeyLog = file } }
        let text = String(decoding: try folder.read("keys.log"), as: UTF8.self).split(separator: "\n")
        #expect(text.count(where: { $0.hasPrefix("CLIENT_TRAFFIC_SECRET_0 ") }) == 2)
        #expect(throws: TLSError.self) { try InsecureKeyLog(appendingTo: folder.path + "/no/such/folder") }
        try #require(chmod(path, 0o640) == 0)
        #expect(throws: TLSError.self) { try InsecureKeyLog(appendingTo: path) }
    }

    @Test("A key log goes to no file of another user's choice, and a link of this user's is followed")
    func keyLogOfOthers() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/keys.log"
        for name in ["keys.log", "target"] {
            close(open(folder.path + "/" + name, O_CREAT | O_WRONLY, 0o600))
        }
        symlink("target", folder.path + "/link")
        _ = try InsecureKeyLog(appendingTo: folder.path + "/link")
        #expect(throws: TLSError.self) { try InsecureKeyLog(appendingTo: path + "\0.other") }
        #expect(link(path, folder.path + "/second") == 0)
        #expect(throws: TLSError.self) { try InsecureKeyLog(appendingTo: path) }
        unlink(folder.path + "/second")
        _ = try InsecureKeyLog(appendingTo: path)
        guard geteuid() == 0 else { return }
        lchown(folder.path + "/link", 1234, 1234)
        #expect(throws: TLSError.self) { try InsecureKeyLog(appendingTo: folder.path + "/link") }
        chown(path, 1234, 1234)
        #expect(throws: TLSError.self) { try InsecureKeyLog(appendingTo: path) }
    }

    @Test("A key log in a pipe is refused, with a reader and without: its end would end the process")
    func keyLogInPipe() throws {
        let pipe = try NamedPipe()
        #expect(throws: TLSError.self) { try InsecureKeyLog(appendingTo: pipe.path) }
        let reader = open(pipe.path, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        try #require(reader >= 0)
        #expect(throws: TLSError.badSettings("key log \(pipe.path): a pipe")) {
            try InsecureKeyLog(appendingTo: pipe.path)
        }
    }
}
