import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("The same certificate on all IPs")
struct SameCertificateTests {
    private let lab: Lab
    private let host = "www.example.com"

    init() throws { lab = try Lab() }

    @Test("Option --same compares with the certificate of most IPs, not of the first")
    func majority() async throws {
        let old = try lab.server(try lab.issuer.issue(.publicLeaf(host, until: 40)))
        let renewed = try lab.issuer.issue(.publicLeaf(host, until: 80))
        let others = try (0..<3).map { _ in try lab.server(renewed) }
        let alike = try await probe(
            [host] + ([old] + others).map { "@\($0.authority)" } + ["--same"],
            trusting: lab.root.rootPEM
        )
        #expect(alike.code == 90)
        #expect(alike.records.map(\.passed) == [false, true, true, true])
        #expect(
            alike.records.first?.faults.first?.text
                == "older certificate than 127.0.0.1 and 2 other IPs show"
        )
        let lax = try await probe(
            [host] + ([old] + others).map { "@\($0.authority)" },
            trusting: lab.root.rootPEM
        )
        #expect(
            lax.records.map { $0.warnings.first?.text } == [
                nil, "newer certificate", "newer certificate", "newer certificate",
            ]
        )
    }
}
