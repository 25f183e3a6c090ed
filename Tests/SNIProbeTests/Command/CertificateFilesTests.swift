import DirectTLS
import Foundation
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("Files of certificates")
struct CertificateFilesTests {
    private let root = TestAuthority()

    /// Runs with a folder that has these files.
    private func withFolder(_ files: [String: [UInt8]], _ body: (String) throws -> Void) throws {
        let folder = NSTemporaryDirectory() + "certificates-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for (name, bytes) in files { try Data(bytes).write(to: URL(fileURLWithPath: folder + "/" + name)) }
        try body(folder)
    }

    private func problem(_ path: String) -> UsageError? {
        do throws(UsageError) {
            _ = try CertificateFiles.roots(at: path)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "Of a directory all files that hold certificates are roots, in either form, in the order of their names"
    )
    func directory() throws {
        let pem = Array(root.rootPEM.utf8)
        let files: [String: [UInt8]] = [
            "b.pem": pem, "a.crt": root.rootDER, "4f3b2a1c.0": pem + pem, "broken.pem": Array(pem.prefix(60)),
            "empty.cer": [], "note.txt": pem, ".hidden.pem": pem,
            "key.pem": Array("-----BEGIN PRIVATE KEY-----".utf8),
        ]
        try withFolder(files) { (folder: String) throws in
            #expect(
                try CertificateFiles.roots(at: folder) == [.pem(pem + pem), .der(root.rootDER), .pem(pem)]
            )
        }
    }

    @Test("A directory without any certificate is an error that names it")
    func noCertificate() throws {
        try withFolder(["note.txt": Array(root.rootPEM.utf8), "broken.der": [0x30, 0x03, 1, 2, 3]]) {
            folder in
            let error = problem(folder)
            #expect(
                error?.what == "there is no certificate in the directory '\(folder)'" && error?.code == 66
            )
        }
    }

    @Test("A single file is a root in either form, and an error that says what else it holds")
    func file() throws {
        let files: [String: [UInt8]] = [
            "root.der": root.rootDER, "root.pem": Array(root.rootPEM.utf8),
            "broken.der": [0x30, 0x03, 1, 2, 3],
            "request": Array("-----BEGIN CERTIFICATE REQUEST-----\n".utf8),
            "list": Array("-----BEGIN X509 CRL-----\n".utf8),
            "a.p12": [0x30, 0x08, 2, 1, 3, 0x30, 3, 6, 1, 0], "a.p7b": Array("-----BEGIN PKCS7-----\n".utf8),
            "a.p7c": [0x30, 0x80, 6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 2],
        ]
        try withFolder(files) { (folder: String) throws in
            #expect(try CertificateFiles.roots(at: folder + "/root.der") == [.der(root.rootDER)])
            #expect(try CertificateFiles.roots(at: folder + "/root.pem") == [.pem(Array(root.rootPEM.utf8))])
            for (name, words) in [
                ("broken.der", ": "), ("request", ", but a certificate request"),
                ("list", ", but a revocation list"), ("a.p12", ", but PKCS#12"),
                ("a.p7b", ", but PKCS#7"), ("a.p7c", ", but PKCS#7"),
            ] {
                let error = problem("\(folder)/\(name)")
                let what = "there is no certificate in \(quoted("\(folder)/\(name)"))\(words)"
                #expect(error?.what.hasPrefix(what) == true)
                #expect(error?.code == 66)
            }
        }
    }
}
