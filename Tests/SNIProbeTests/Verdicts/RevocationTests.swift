import DirectCore
import DirectTestPeers
import Foundation
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("Asking the issuer whether a certificate is revoked")
struct RevocationTests {
    private let lab: Lab
    private let host = "www.example.com"

    init() throws { lab = try Lab() }

    /// What a responder and a place for lists answer, by the certificate that is asked about.
    private struct Issuer: Sendable {
        var ocsp: @Sendable (FixtureCertificate) throws -> [UInt8]? = { _ in nil }
        var list: @Sendable (FixtureCertificate) throws -> [UInt8]? = { _ in nil }
    }

    private final class Certificate: @unchecked Sendable { var value: FixtureCertificate? }

    /// Probes a server whose certificate names an issuer that answers so.
    private func outcome(_ issuer: Issuer, scheme: String = "http", trusting root: String? = nil) async throws
        -> (
            outcome: Outcome, paths: [String]
        )
    {
        let certificate = Certificate()
        let desk = try FixtureServer.start { request in
            guard let value = certificate.value else { return .status(500) }
            let answer = try request.path == "/ocsp" ? issuer.ocsp(value) : issuer.list(value)
            return answer.map { .bytes($0) } ?? .status(404)
        }
        var profile = CertificateProfile.publicLeaf(host)
        // OpenSSL reads both URLs from one text.
        profile.issuerURL = "http://ca.example/e1.crt,OCSP;URI:\(scheme)://\(desk.authority)/ocsp"
        profile.revocationListURL = "\(scheme)://\(desk.authority)/list"
        certificate.value = try lab.issuer.issue(profile)
        let server = try FixtureServer.start(.tls(try #require(certificate.value))) { _ in .text("") }
        let outcome = try await probe(
            host,
            at: server,
            "--revocation",
            "--skip-default",
            trusting: root ?? lab.root.rootPEM
        )
        return (outcome, desk.requests.map(\.target))
    }

    private static func list(
        by authority: TestAuthority,
        _ revoked: [FixtureCertificate],
        validity: CertificateProfile.Validity = .decades
    ) throws -> [UInt8] {
        let pem = try authority.revocationListPEM(revoked, validity: validity)
        let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        return Array(try #require(Data(base64Encoded: lines.joined())))
    }

    @Test("A responder's answer decides, and the list is not asked for then")
    func responder() async throws {
        let lab = lab
        let good = try await outcome(Issuer(ocsp: { try lab.issuer.ocspResponse(for: $0) }))
        #expect(good.outcome.code == 0 && good.outcome.record?.warnings.isEmpty == true)
        #expect(good.outcome.record?.observation.revocation?.word(now: Int(days(0))) == "good")
        #expect(good.paths == ["/ocsp"])
        let revoked = try await outcome(Issuer(ocsp: { try lab.issuer.ocspResponse(for: $0, .revoked) }))
        #expect(revoked.outcome.faults == ["revoked"] && revoked.outcome.code == 60)
    }

    @Test("Without a usable answer of the responder the list decides")
    func lists() async throws {
        let lab = lab
        let revoked = try await outcome(Issuer(list: { try Self.list(by: lab.issuer, [$0]) }))
        #expect(revoked.outcome.faults == ["revoked"])
        #expect(revoked.paths == ["/ocsp", "/list"])
        let other = Issuer(
            ocsp: { try lab.root.ocspResponse(for: $0, .revoked) },
            list: { _ in try Self.list(by: lab.issuer, []) }
        )
        let good = try await outcome(other)
        #expect(good.outcome.code == 0 && good.outcome.record?.warnings.isEmpty == true)
    }

    @Test("An answer that is old, of somebody else, garbage or missing proves nothing, which is a warning")
    func useless() async throws {
        let lab = lab
        let old = CertificateProfile.Validity(notBefore: days(-9), notAfter: days(-2))
        let issuers = [
            Issuer(), Issuer(ocsp: { _ in [1, 2, 3] }, list: { _ in [0x30, 0] }),
            Issuer(ocsp: { try lab.issuer.ocspResponse(for: $0, validity: old) }, list: { _ in nil }),
            Issuer(list: { try Self.list(by: lab.issuer, [$0], validity: old) }),
            Issuer(list: { try Self.list(by: lab.root, [$0]) }),
        ]
        for (index, issuer) in issuers.enumerated() {
            let (outcome, _) = try await outcome(issuer)
            #expect(outcome.code == 0, "\(index)")
            #expect(outcome.record?.warnings.map(\.id) == [.revocationUnknown], "\(index)")
        }
    }

    @Test("Nobody is asked about a chain that is not trusted, nor over another scheme than http")
    func unasked() async throws {
        let lab = lab
        let issuer = Issuer(ocsp: { try lab.issuer.ocspResponse(for: $0) })
        let untrusted = try await outcome(issuer, trusting: TestAuthority("Other").rootPEM)
        #expect(untrusted.outcome.code == 60 && untrusted.paths.isEmpty)
        let encrypted = try await outcome(issuer, scheme: "https")
        #expect(
            encrypted.outcome.record?.warnings.map(\.id) == [.revocationUnknown] && encrypted.paths.isEmpty
        )
    }

    @Test("For a server on the public internet no address outside of it is asked")
    func inside() async throws {
        let inner = try Listener.atOwnAddress()
        var profile = CertificateProfile.publicLeaf(host)
        profile.revocationListURL = "http://\(inner.address):\(inner.port)/list"
        let server = try FixtureServer.start(.tls(try lab.issuer.issue(profile))) { _ in .text("") }
        let record = try await probe(host, at: server, trusting: lab.root.rootPEM).record
        let chain = try #require(record?.served?.chain)
        let address = try #require(IPAddress("8.8.8.8"))
        let answer = await RevocationDesk.shared.ask(about: chain, at: address, within: .seconds(60))
        #expect(answer?.judgement == nil)
        #expect(answer?.failure.contains("may not be dialled") == true, "\(answer?.failure ?? "")")
        inner.stop()
        #expect(throws: (any Error).self) { _ = try inner.accept() }
    }
}
