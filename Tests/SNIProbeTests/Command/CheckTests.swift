import DirectHTTP
import Foundation
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("Certificates in files")
struct CheckTests {
    private let lab: Lab
    private let host = "www.example.com"

    init() throws { lab = try Lab() }

    /// Writes files, and removes them at the end.
    private func withFiles(_ files: [String: [UInt8]], _ body: (String) async throws -> Void) async throws {
        let folder = NSTemporaryDirectory() + "sni-probe-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for (name, bytes) in files { try Data(bytes).write(to: URL(filePath: "\(folder)/\(name)")) }
        try Data(lab.root.rootPEM.utf8).write(to: URL(filePath: folder + "/root.pem"))
        try await body(folder)
    }

    private func records(_ folder: String, _ arguments: String...) throws -> [ProbeRecord] {
        let paths = arguments.map { $0.hasPrefix("/") ? folder + $0 : $0 }
        let (options, file) = try #require(try Options.ofCheck(["--ca", folder + "/root.pem"] + paths))
        return try CertificateCheck(options, of: file).records()
    }

    private func pem(_ certificates: FixtureCertificate...) -> [UInt8] {
        Array(certificates.map(\.pem).joined().utf8)
    }

    @Test("A file has the verdicts that a server with it would have, one for each name")
    func verdicts() async throws {
        let leaf = try lab.issuer.issue(.publicLeaf(host, "example.com"))
        let old = try lab.issuer.issue(.publicLeaf(host, from: -99, until: -9))
        let issuer = lab.issuer.certificate
        let files = [
            "full.pem": pem(leaf, issuer), "leaf.pem": pem(leaf), "leaf.der": leaf.der,
            "old.pem": pem(old, issuer),
            "mixed.pem": pem(leaf, lab.standard, issuer),
        ]
        try await withFiles(files) { folder in
            let good = try records(folder, "/full.pem", host, "example.com", "other.test")
            #expect(good.map { $0.faults.map(\.id) } == [[], [], [.nameMismatch]])
            #expect(good[2].hint?.text.contains("with other.test as DNS SAN") == true)
            let address = try records(folder, "/full.pem", "203.0.113.7")
            #expect(address[0].hint?.text.contains("with 203.0.113.7 as IP SAN") == true)
            for file in ["/leaf.pem", "/leaf.der"] {
                let cut = try records(folder, file, host)
                #expect(cut.map { $0.faults.map(\.id) } == [[.intermediateMissing]])
                #expect(cut[0].hint?.text.contains("http://ca.example/e1.crt") == true)
            }
            let expired = try records(folder, "/old.pem", host)
            #expect(expired[0].faults.map(\.id) == [.expired] && expired[0].exitCode == 60)
            #expect(try records(folder, "/mixed.pem", host)[0].warnings.map(\.id) == [.chainSurplus])
            var stapled = CertificateProfile.publicLeaf(host)
            stapled.mustStaple = true
            let staple = pem(try lab.issuer.issue(stapled), issuer)
            try Data(staple).write(to: URL(filePath: folder + "/staple.pem"))
            let required = try records(folder, "/staple.pem", host)[0]
            #expect(required.passed && required.warnings.map(\.id) == [.stapleRequired])
            let few = try records(folder, "/full.pem", host, "--critical-days", "100")
            #expect(few[0].exitCode == 90 && few[0].hint?.text == "renew it before it is deployed")
        }
    }

    @Test("A key that does not fit is a fault, and one that cannot be read an error")
    func keys() async throws {
        let leaf = try lab.issuer.issue(.publicLeaf(host))
        var profile = CertificateProfile.publicLeaf(host)
        profile.key = .rsa(2048)
        let files = [
            "kind.key": Array(try lab.issuer.issue(profile).keyPEM.utf8),
            "full.pem": pem(leaf, lab.issuer.certificate), "right.key": Array(leaf.keyPEM.utf8),
            "wrong.key": Array(lab.standard.keyPEM.utf8), "none.key": Array("nothing".utf8),
        ]
        try await withFiles(files) { folder in
            #expect(try records(folder, "/full.pem", "--key", "/right.key", host)[0].passed)
            for key in ["/wrong.key", "/kind.key"] {
                let wrong = try records(folder, "/full.pem", "--key", key, host)[0]
                #expect(wrong.faults.map(\.id) == [.keyMismatch] && wrong.exitCode == 60)
                #expect(wrong.hint?.text.contains("not a pair") == true)
            }
            #expect(throws: UsageError.self) {
                _ = try records(folder, "/full.pem", "--key", "/none.key", host)
            }
        }
    }

    @Test("A key in the file has to be that of a certificate, which is the server's own wherever it stands")
    func keyInFile() async throws {
        let leaf = try lab.issuer.issue(.publicLeaf(host))
        let other = try lab.issuer.issue(.publicLeaf(host))
        let issuer = lab.issuer.certificate
        let files = [
            "right.pem": pem(leaf, issuer) + Array(leaf.keyPEM.utf8),
            "wrong.pem": pem(leaf, issuer) + Array(lab.standard.keyPEM.utf8),
            "first.pem": Array(leaf.keyPEM.utf8) + pem(leaf, issuer), "full.pem": pem(leaf, issuer),
            "late.pem": pem(issuer, leaf), "second.pem": pem(other, leaf, issuer) + Array(leaf.keyPEM.utf8),
            "right.key": Array(leaf.keyPEM.utf8),
            "issuer.pem": pem(leaf, issuer) + Array(issuer.keyPEM.utf8),
        ]
        try await withFiles(files) { folder in
            for file in ["/right.pem", "/first.pem"] {
                #expect(try records(folder, file, host)[0].faults == [])
            }
            // The key of an authority is no server's.
            for file in ["/wrong.pem", "/issuer.pem"] {
                let wrong = try records(folder, file, host)[0]
                #expect(wrong.faults.map(\.id) == [.keyMismatch] && wrong.exitCode == 60)
            }
            #expect(
                try records(folder, "/wrong.pem", "--key", "/right.key", host)[0].faults.map(\.id) == [
                    .keyMismatch
                ]
            )
            // The place is told, and the certificate there is the one that is judged.
            for (file, first) in [("/late.pem", "Lab Issuing CA E1"), ("/second.pem", host)] {
                let late = try records(folder, file, host)[0]
                #expect(late.faults.map(\.id) == [.nameMismatch] && late.exitCode == 60)
                #expect(
                    late.faults.first?.text.contains(
                        "begins with \(first), and the server's own certificate is number 2"
                    ) == true
                )
                #expect(late.hint?.text.contains("put it first") == true)
                #expect(late.leaf?.summary.der == leaf.der)
            }
            let several = try records(folder, "/late.pem", "a.test")[0]
            #expect(several.faults.map(\.id) == [.nameMismatch, .nameMismatch])
        }
    }

    @Test("Without a name the rest is judged, and the names are shown")
    func nameless() async throws {
        let issuer = lab.issuer.certificate
        let files = [
            "full.pem": pem(try lab.issuer.issue(.publicLeaf(host, "example.com")), issuer),
            "wild.pem": pem(try lab.issuer.issue(.publicLeaf("*.example.com")), issuer),
            "old.pem": pem(try lab.issuer.issue(.publicLeaf(host, from: -99, until: -9)), issuer),
        ]
        try await withFiles(files) { folder in
            let full = try records(folder, "/full.pem")
            #expect(full.count == 1 && full[0].faults.isEmpty)
            let text = LongForm(record: full[0], style: Style(), verbose: false).text
            #expect(text.contains("\(host), example.com"))
            #expect(try records(folder, "/wild.pem")[0].faults.isEmpty)
            #expect(try records(folder, "/old.pem")[0].faults.map(\.id) == [.expired])
        }
    }

    @Test("PEM without a line break in between is read, and it is a fault that servers do not read it")
    func runTogether() async throws {
        let leaf = try lab.issuer.issue(.publicLeaf(host))
        let bytes = Array(leaf.pem.utf8.dropLast()) + pem(lab.issuer.certificate).dropLast()
        try await withFiles(["cat.pem": bytes, "cat.key": Array(leaf.keyPEM.utf8.dropLast()) + bytes]) {
            folder in
            for file in ["/cat.pem", "/cat.key"] {
                let record = try records(folder, file, host)[0]
                #expect(record.faults.map(\.id) == [.certificateInvalid] && record.served?.chain.count == 2)
                #expect(record.hint?.text.contains("line break") == true)
            }
        }
    }

    @Test(
        "An encrypted key is compared with its passphrase, and an error without",
        .enabled(if: Self.openssl != nil, "needs openssl")
    )
    func encryptedKey() async throws {
        let leaf = try lab.issuer.issue(.publicLeaf(host))
        let files = [
            "key.pem": Array(leaf.keyPEM.utf8), "full.pem": pem(leaf, lab.issuer.certificate),
            "other.pem": pem(lab.standard, lab.issuer.certificate), "right": Array("a b c\n".utf8),
            "wrong": Array("a b\n".utf8),
        ]
        try await withFiles(files) { folder in
            let process = Process()
            process.executableURL = URL(filePath: try #require(Self.openssl))
            process.arguments =
                ["pkcs8", "-topk8", "-in", folder + "/key.pem", "-out", folder + "/enc.pem"]
                + ["-passout", "file:\(folder)/right"]
            try process.run()
            process.waitUntilExit()
            let key = try Data(contentsOf: URL(filePath: folder + "/enc.pem"))
            for name in ["full", "other"] {
                let chain = try Data(contentsOf: URL(filePath: "\(folder)/\(name).pem"))
                try (chain + key).write(to: URL(filePath: "\(folder)/\(name)-one.pem"))
            }
            let right = "--passphrase=file:\(folder)/right"
            #expect(try records(folder, "/full.pem", "--key", "/enc.pem", right, host)[0].faults == [])
            #expect(try records(folder, "/full-one.pem", right, host)[0].faults == [])
            #expect(try records(folder, "/other-one.pem", right, host)[0].faults.first?.id == .keyMismatch)
            for words in [[], ["--passphrase=file:\(folder)/wrong"]] {
                for file in [["/full.pem", "--key", "/enc.pem"], ["/full-one.pem"]] {
                    let paths = (file + [host]).map { $0.hasPrefix("/") ? folder + $0 : $0 }
                    let arguments = ["--ca", folder + "/root.pem"] + paths + words
                    let (options, place) = try #require(try Options.ofCheck(arguments))
                    #expect(throws: UsageError.self) {
                        _ = try CertificateCheck(options, of: place).records()
                    }
                }
            }
        }
    }

    @Test("The command reads standard input, writes every format and has the exit codes of a probe")
    func command() async throws {
        let leaf = try lab.issuer.issue(.publicLeaf(host))
        let full = String(decoding: pem(leaf, lab.issuer.certificate), as: UTF8.self)
        try await withFiles(["full.pem": Array(full.utf8)]) { folder in
            let roots = ["--ca", folder + "/root.pem"]
            let good = try await Program.run(["check", "-", host] + roots, input: full)
            #expect(good.code == 0 && good.output.hasPrefix("ok\t\(host)\t-\t443\t"))
            let json = try await Program.run(["check", folder + "/full.pem", "b.test", "--json"] + roots)
            #expect(json.code == 60)
            #expect(json.output.contains(#""ip":null"#) && json.output.contains(#""tls":null"#))
            #expect(json.output.contains(#""handshakes":0"#))
            #expect(json.output.contains(#""source":"\#(folder)/full.pem:1""#))
            let text = try await Program.run(["check", folder + "/full.pem", "b.test", "-v"] + roots)
            #expect(text.output.hasPrefix("FAIL  b.test in \(folder)/full.pem\n      wrong certificate\n"))
            for format in ["junit", "sarif", "nagios", "prometheus"] {
                let result = try await Program.run(
                    ["check", folder + "/full.pem", host, "--format", format] + roots
                )
                #expect(result.code == 0 && !result.output.isEmpty, "\(format)")
            }
        }
    }

    @Test(
        "What cannot be checked is a usage error with a hint",
        arguments: [
            [], ["x.pem", "a.test", "--repeat", "2"], ["x.pem", "@127.0.0.1"],
            ["x.pem", "https://a.test/"], ["x.pem", "a.test@127.0.0.1"],
        ]
    )
    func misuse(_ arguments: [String]) {
        do {
            _ = try Options.ofCheck(arguments)
            Issue.record("accepted")
        } catch {
            #expect(error.code == 64 && error.hint != nil)
        }
    }

    @Test("A damaged file in PKCS#12 is an error")
    func damagedPKCS12() async throws {
        try await withFiles(["a.p12": [0x30, 0x82, 1, 0, 2, 1, 3, 0x30, 0x82, 0, 0x10]]) { folder in
            do {
                _ = try records(folder, "/a.p12", "a.test")
                Issue.record("accepted")
            } catch let error as UsageError {
                #expect(error.code == 66 && error.what.contains("damaged"))
            }
        }
    }

    private static let openssl = ["/usr/bin/openssl", "/usr/local/bin/openssl", "/opt/homebrew/bin/openssl"]
        .first {
            FileManager.default.isExecutableFile(atPath: $0)
        }

    @Test(
        "PKCS#12 is judged like PEM, and a passphrase that is missing or wrong is an error",
        .enabled(if: Self.openssl != nil, "needs openssl")
    )
    func pkcs12() async throws {
        let leaf = try lab.issuer.issue(.publicLeaf(host))
        let files = [
            "leaf.pem": pem(leaf), "key.pem": Array(leaf.keyPEM.utf8),
            "chain.pem": pem(lab.issuer.certificate),
            "right": Array("a b c\n".utf8), "wrong": Array("a b\n".utf8), "none": Array("\n".utf8),
            "other.key": Array(lab.standard.keyPEM.utf8),
        ]
        try await withFiles(files) { folder in
            func export(_ name: String, _ words: String..., passphrase: String) throws {
                let base = [
                    "pkcs12", "-export", "-out", folder + name, "-passout", "file:\(folder)/\(passphrase)",
                ]
                let process = Process()
                process.executableURL = URL(filePath: try #require(Self.openssl))
                process.arguments = base + words.map { $0.hasPrefix("/") ? folder + $0 : $0 }
                try process.run()
                process.waitUntilExit()
                #expect(process.terminationStatus == 0)
            }
            try export(
                "/full.p12",
                "-in",
                "/leaf.pem",
                "-inkey",
                "/key.pem",
                "-certfile",
                "/chain.pem",
                passphrase: "right"
            )
            try export("/leaf.p12", "-in", "/leaf.pem", "-nokeys", passphrase: "none")
            let right = "--passphrase=file:\(folder)/right"
            #expect(try records(folder, "/full.p12", right, host)[0].faults.isEmpty)
            #expect(try records(folder, "/full.p12", right, "a.test")[0].faults.map(\.id) == [.nameMismatch])
            #expect(try records(folder, "/leaf.p12", host)[0].faults.map(\.id) == [.intermediateMissing])
            let strange = try records(folder, "/full.p12", right, "--key", "/other.key", host)[0]
            #expect(strange.faults.map(\.id) == [.keyMismatch])
            for (words, what) in [
                ([], "it has a passphrase"), (["--passphrase=file:\(folder)/wrong"], "passphrase is wrong"),
            ] {
                do {
                    let arguments = ["--ca", folder + "/root.pem", folder + "/full.p12", host] + words
                    let (options, file) = try #require(try Options.ofCheck(arguments))
                    _ = try CertificateCheck(options, of: file).records()
                    Issue.record("accepted")
                } catch let error as UsageError {
                    #expect(error.code == 66 && error.what.contains(what), "\(error)")
                }
            }
        }
        for words in [["--passphrase", "secret"], ["--passphrase", "env:NO_SUCH_VARIABLE_HERE"]] {
            #expect(throws: UsageError.self) { try Options.ofCheck(["x.pem", "a.test"] + words) }
        }
        #expect(throws: UsageError.self) { try Options(["a.test", "--passphrase", "file:/dev/null"]) }
    }

    @Test("Without a name none is missed: a certificate of an issuer, or with a common name alone, is judged")
    func noName() async throws {
        var profile = CertificateProfile([], commonName: "old.test")
        profile.validity = .init(notBefore: days(-10), notAfter: days(80))
        let files = [
            "e1.pem": pem(lab.issuer.certificate),
            "cn.pem": pem(try lab.issuer.issue(profile), lab.issuer.certificate),
        ]
        try await withFiles(files) { folder in
            // An issuer's certificate is for no server, whatever its name.
            for (file, rest) in [("/e1.pem", [.wrongPurpose]), ("/cn.pem", [])] as [(String, [Fault.ID])] {
                #expect(try records(folder, file)[0].faults.map(\.id) == rest, "\(file)")
                #expect(try records(folder, file, host)[0].faults.map(\.id) == [.nameMismatch] + rest)
            }
            let few = try records(folder, "/cn.pem", "--critical-days", "100")[0]
            #expect(few.faults.map(\.id) == [.tooFewDays])
        }
    }
}
