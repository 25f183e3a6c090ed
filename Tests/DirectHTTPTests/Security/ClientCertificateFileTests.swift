import DirectCore
import DirectHTTPRecords
import DirectIO
import DirectTestCommands
import DirectTestTime
import Foundation
import TLSFixtures
import Testing

@testable import DirectHTTP

private let hasOpenSSL = ["/usr/bin", "/bin", "/usr/local/bin"].contains {
    FileManager.default.isExecutableFile(atPath: $0 + "/openssl")
}

@Suite("Client certificates with passphrases and in files", .idleLimit)
struct ClientCertificateFileTests {
    private static let secret = "it's Grün: \\ 1"
    private let folder: TemporaryFolder
    private let server: FixtureServer
    private let own = testAuthority.certificate(for: "me.test")

    init() throws {
        folder = try TemporaryFolder()
        server = try FixtureServer.start(
            .tls(testAuthority.certificate(for: "a.test")) { $0.clientCertificates = .requested }
        ) { _ in .text("hello").then(.close) }
        try write(own)
    }

    private func write(_ certificate: FixtureCertificate) throws {
        try folder.write(certificate.pem, "cert.pem")
        try folder.write(certificate.keyPEM, "key.pem")
    }

    private func path(_ name: String) -> String { folder.path + "/" + name }

    /// Runs a command of OpenSSL.
    private func run(_ arguments: [String]) async throws {
        let child = try TestProcess(
            "openssl",
            arguments,
            environment: ["PATH": "/usr/bin:/bin:/usr/local/bin"]
        )
        let status = try await onOwnThread { child.waitForEnd() }
        try #require(status == 0, "openssl \(arguments)")
    }

    /// Returns the certificate that the server gets with an identity.
    private func shown(_ identity: ClientIdentity) async throws -> [UInt8]? {
        let client = HTTPClient.trusting { $0.tls.clientIdentity = identity }
        _ = try await client.fetch(server.request("https://a.test/"))
        return server.records.last?.tls?.clientCertificate
    }

    private func files(passphrase: String? = nil) -> ClientIdentity {
        .files(certificateChain: path("cert.pem"), privateKey: path("key.pem"), passphrase: passphrase)
    }

    @Test(
        "A passphrase opens keys in each form of PEM, and a key without one needs none",
        .enabled(if: hasOpenSSL),
        arguments: [["-v2", "aes-256-cbc"], ["-scrypt"], ["-traditional"], ["plain"]]
    )
    func encryptedKeys(form: [String]) async throws {
        let phrase = ["-passout", "file:" + path("phrase")]
        let input = ["-in", path("key.pem"), "-out", path("locked.pem")]
        try folder.write(Self.secret, "phrase")
        switch form {
        case ["plain"]: try folder.write(own.keyPEM, "locked.pem")
        case ["-traditional"]: try await run(["pkey", "-traditional", "-aes128"] + input + phrase)
        default: try await run(["pkcs8", "-topk8"] + form + input + phrase)
        }
        let (chain, key) = (try folder.read("cert.pem"), try folder.read("locked.pem"))
        let identity = try ClientIdentity(certificateChain: chain, privateKey: key, passphrase: Self.secret)
        #expect(try await shown(identity) == own.der)
        #expect(!"\(identity)\(String(reflecting: identity))".contains("Grün"))
        try folder.write(String(decoding: key, as: UTF8.self), "key.pem")
        #expect(try await shown(files(passphrase: Self.secret)) == own.der)
        guard form != ["plain"] else { return }
        for wrong in ["", "wrong", String(repeating: "x", count: 5000)] {
            #expect(throws: TLSError.wrongPassphrase) {
                try ClientIdentity(certificateChain: chain, privateKey: key, passphrase: wrong)
            }
        }
        let error = try await httpError { try await shown(files(passphrase: "a wrong one")) }
        #expect(error.tlsError == .wrongPassphrase && error.phase == .tls && !error.isWorthRetrying)
        #expect(!"\(error)".contains("a wrong one"))
        // Without a passphrase nobody is asked on the terminal.
        let unopened = try await httpError { try await shown(files()) }
        guard case .badSettings? = unopened.tlsError else { throw unopened }
    }

    @Test("An archive in PKCS#12 has key and chain, in memory and as a file", .enabled(if: hasOpenSSL))
    func archive() async throws {
        try folder.write(Self.secret, "phrase")
        try folder.write(testAuthority.rootPEM, "more.pem")
        try await run([
            "pkcs12", "-export", "-in", path("cert.pem"), "-inkey", path("key.pem"), "-certfile",
            path("more.pem"),
            "-out", path("own.p12"), "-passout", "file:" + path("phrase"),
        ])
        let archive = try folder.read("own.p12")
        let identity = try ClientIdentity(pkcs12: archive, passphrase: Self.secret)
        #expect(try await shown(identity) == own.der)
        #expect(
            String(decoding: identity.certificateChain, as: UTF8.self).split(separator: "BEGIN").count == 3
        )
        #expect(try await shown(.pkcs12File(path("own.p12"), passphrase: Self.secret)) == own.der)
        for wrong in ["", "wrong", "wrong\0"] {
            #expect(throws: TLSError.wrongPassphrase) {
                try ClientIdentity(pkcs12: archive, passphrase: wrong)
            }
        }
        for length in [0, 1, archive.count / 2, archive.count - 1] {
            #expect(throws: TLSError.self) {
                try ClientIdentity(pkcs12: Array(archive[..<length]), passphrase: Self.secret)
            }
        }
        try await run([
            "pkcs12", "-export", "-nomac", "-in", path("cert.pem"), "-inkey", path("key.pem"), "-out",
            path("nomac.p12"), "-passout", "file:" + path("phrase"),
        ])
        let unchecked = try folder.read("nomac.p12")
        #expect(try await shown(ClientIdentity(pkcs12: unchecked, passphrase: Self.secret)) == own.der)
        #expect(throws: TLSError.wrongPassphrase) {
            try ClientIdentity(pkcs12: unchecked, passphrase: "wrong")
        }
        try await run([
            "pkcs12", "-export", "-nokeys", "-in", path("cert.pem"), "-out", path("none.p12"), "-passout",
            "pass:x",
        ])
        #expect(throws: TLSError.badSettings("PKCS#12: no key with its certificate")) {
            try ClientIdentity(pkcs12: try folder.read("none.p12"), passphrase: "x")
        }
    }

    @Test("Each new handshake shows the files as they are, and resumes no session of the former certificate")
    func renewed() async throws {
        let renewed = testAuthority.certificate(for: "renewed.test")
        let client = HTTPClient.trusting { $0.tls.clientIdentity = files() }
        let request = server.request("https://a.test/")
        for certificate in [own, own, renewed, renewed] {
            try write(certificate)
            _ = try await client.fetch(request)
        }
        let records = server.records
        #expect(records.map(\.isResumed) == [false, true, false, true])
        #expect(records[0].tls?.clientCertificate == own.der)
        #expect(records[2].tls?.clientCertificate == renewed.der)
    }

    @Test("While only one of the files is new, or one is missing, the former certificate is shown")
    func halfRenewed() async throws {
        let renewed = testAuthority.certificate(for: "renewed.test")
        let kept = Locked(0)
        let client = HTTPClient.trusting {
            $0.tls.clientIdentity = files()
            $0.tls.resumesSessions = false
            $0.observer = { event in
                if case .identityKept = event.kind { kept.withLock { $0 += 1 } }
            }
        }
        let request = server.request("https://a.test/")
        _ = try await client.fetch(request)
        try folder.write(renewed.pem, "cert.pem")
        _ = try await client.fetch(request)
        try folder.write("", "key.pem")
        _ = try await client.fetch(request)
        try folder.write(renewed.keyPEM, "key.pem")
        _ = try await client.fetch(request)
        let shown = server.records.map { $0.tls?.clientCertificate }
        #expect(shown == [own.der, own.der, own.der, renewed.der])
        #expect(kept.withLock { $0 } == 2)
        let missing = ClientIdentity.files(certificateChain: path("cert.pem"), privateKey: path("none"))
        let error = try await httpError { try await self.shown(missing) }
        guard case .badSettings(let what)? = error.tlsError else { throw error }
        #expect(what.contains("none"))
    }

    @Test("While only one file is new, the first connection of other settings shows the former one")
    func halfRenewedForNewSettings() async throws {
        let client = HTTPClient.trusting { $0.tls.clientIdentity = files() }
        var request = server.request("https://a.test/")
        _ = try await client.fetch(request)
        try folder.write(testAuthority.certificate(for: "renewed.test").pem, "cert.pem")
        request.localBinding = IPAddress("127.0.0.1").map { .address($0) }
        _ = try await client.fetch(request)
        #expect(server.records.map { $0.tls?.clientCertificate } == [own.der, own.der])
    }

    @Test(
        "A file that hangs holds up connections of its own client alone, however many",
        .timeLimit(.minutes(1))
    )
    func hangingFile() async throws {
        let pipe = try NamedPipe()
        let identity = ClientIdentity.files(certificateChain: pipe.path, privateKey: path("key.pem"))
        let client = HTTPClient.trusting {
            $0.tls.clientIdentity = identity
            $0.maximumConnectionsPerOrigin = 20
        }
        let hanging = try FixtureServer.secure("a.test")
        let tasks = (0..<12).map { _ in Task { try await client.fetch(hanging.request("https://a.test/")) } }
        try await pipe.open()
        // Another client has to read its own roots, and files.
        #expect(try await shown(files()) == own.der)
        for task in tasks {
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        pipe.close(writing: own.pem)
    }

    @Test("While files hang that have been read before, the former certificate is shown after a second")
    func hangingRenewal() async throws {
        let time = HeldTime()
        let kept = Locked<[String]>([])
        let client = time.client {
            $0.tls.clientIdentity = files()
            $0.tls.resumesSessions = false
            $0.observer = { event in
                if case .identityKept(let why) = event.kind { kept.withLock { $0.append("\(why)") } }
            }
        }
        let request = server.request("https://a.test/")
        _ = try await client.fetch(request)
        let pipe = try NamedPipe()
        try FileManager.default.removeItem(atPath: path("cert.pem"))
        try FileManager.default.createSymbolicLink(atPath: path("cert.pem"), withDestinationPath: pipe.path)
        for _ in 0..<2 {
            async let answer = client.fetch(request)
            try await time.pass(.seconds(1))
            _ = try await answer
        }
        // The reading that hangs is old enough: nothing is waited for.
        time.advance(by: .milliseconds(500))
        _ = try await client.fetch(request)
        try FileManager.default.removeItem(atPath: path("cert.pem"))
        let renewed = testAuthority.certificate(for: "renewed.test")
        try write(renewed)
        time.advance(by: .milliseconds(500))
        _ = try await client.fetch(request)
        let shown = server.records.map { $0.tls?.clientCertificate }
        #expect(shown == [own.der, own.der, own.der, own.der, renewed.der])
        let reasons = kept.withLock { $0 }
        #expect(reasons.count == 3 && reasons.allSatisfy { $0.contains(path("cert.pem")) }, "\(reasons)")
    }

    @Test(
        "An open connection stays, and requests of one identity share it whether or not the files have changed"
    )
    func pool() async throws {
        let keeping = try FixtureServer.start(
            .tls(testAuthority.certificate(for: "a.test")) { $0.clientCertificates = .requested }
        ) { _ in .text("hello") }
        let client = HTTPClient.trusting()
        var request = keeping.request("https://a.test/")
        request.tls = client.configuration.tls
        request.tls?.clientIdentity = files()
        #expect(try await !client.fetch(request).isReused)
        try write(testAuthority.certificate(for: "renewed.test"))
        #expect(try await client.fetch(request).isReused)
        request.tls?.clientIdentity = nil
        #expect(try await !client.fetch(request).isReused)
        #expect(keeping.records.map { $0.tls?.clientCertificate != nil } == [true, false])
    }

    @Test(
        "The certificate of files is withheld from other hosts as any other, and stands in curl commands by path"
    )
    func otherHosts() async throws {
        let other = try FixtureServer.start(
            .tls(testAuthority.certificate(for: "b.test")) { $0.clientCertificates = .requested },
            on: "127.0.0.2"
        ) { _ in .text("b") }
        let target = other.https("b.test")
        let first = try FixtureServer.start(
            .tls(testAuthority.certificate(for: "a.test")) { $0.clientCertificates = .requested }
        ) { _ in .redirect(to: target) }
        let place = other.endpoint
        let client = HTTPClient.trusting {
            $0.tls.clientIdentity = files(passphrase: Self.secret)
            try? $0.addresses.set([place], for: HostPattern("b.test"))
        }
        _ = try await client.fetch(first.request("https://a.test:\(first.port)/"))
        #expect(first.records.map { $0.tls?.clientCertificate } == [own.der])
        #expect(other.records.map { $0.tls?.clientCertificate } == [nil])
        let command = try client.curlCommand(for: Request(.get, "https://a.test/"), redacting: .insecureNone)
        #expect(command.contains("--cert \(path("cert.pem")) --key \(path("key.pem"))"))
        #expect(command.contains("missing: --pass") && !command.contains("Grün"))
        let archive = HTTPClient.trusting {
            $0.tls.clientIdentity = .pkcs12File("/a:b\\c.p12", passphrase: "x")
        }
        let text = try archive.curlCommand(for: Request(.get, "https://a.test/"))
        #expect(text.contains("--cert-type P12 --cert '/a\\:b\\\\c.p12'"))
    }
}
