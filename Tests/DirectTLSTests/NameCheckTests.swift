import Testing

@testable import DirectTLS

@Suite("The check of names")
struct NameCheckTests {
    struct Case: CustomTestStringConvertible {
        let rule: String
        let identity: ServerIdentity
        let certificate: TestCertificate.Plan
        let isAccepted: Bool
        var testDescription: String { rule }
    }

    @Test("A certificate proves the name or is refused", arguments: try table())
    func certificateProvesTheNameOrIsRefused(_ row: Case) throws {
        let leaf = TestCertificate(row.certificate, issuer: .authority)
        let pair = try Pair(TestServer(leaf), .testing(), row.identity)
        let step = pair.shake()
        if row.isAccepted {
            #expect(step == .moved(0))
        } else {
            guard case .nameMismatch(row.identity.text, _) = step.error else {
                throw Unexpected(step)
            }
        }
    }

    /// Let's Encrypt has issued certificates for addresses since 2026: the owner of the address that was
    /// dialled can have one, and must not pass for the name with it.
    @Test("A certificate for the address that was dialled does not prove the name")
    func certificateForTheDialledAddressDoesNotProveTheName() throws {
        let plan = TestCertificate.Plan(names: [.address([127, 0, 0, 1]), .dns("other.test")])
        let pair = try Pair(
            TestServer(TestCertificate(plan, issuer: .authority)),
            .testing(),
            .name("a.test")
        )
        #expect(
            pair.shake() == .failed(.nameMismatch(expected: "a.test", served: ["other.test", "127.0.0.1"]))
        )
    }

    @Test("The error names the expected name and the names in the certificate, escaped")
    func errorNamesWhatTheCertificateIsFor() throws {
        let pair = try Pair(TestServer(.leaf("b.test", "evil\n.test")), .testing(), .name("a.test"))
        #expect(
            pair.shake().error?.description == "certificate is not for a.test but for b.test, evil\\u{a}.test"
        )
    }

    private static func table() throws -> [Case] {
        let name = try ServerIdentity.name("a.test")
        let inner = try ServerIdentity.name("x.a.test")
        let v4 = try ServerIdentity.address("127.0.0.1")
        let v6 = try ServerIdentity.address("::1")
        let loopback6 = [UInt8](repeating: 0, count: 15) + [1]
        func row(
            _ rule: String,
            _ identity: ServerIdentity,
            _ names: [TestCertificate.Name],
            _ isAccepted: Bool,
            commonName: String = "leaf"
        ) -> Case {
            let plan = TestCertificate.Plan(names: names, commonName: commonName)
            return Case(rule: rule, identity: identity, certificate: plan, isAccepted: isAccepted)
        }
        return [
            row("the exact name", name, [.dns("a.test")], true),
            row("one of several", name, [.dns("b.test"), .dns("a.test")], true),
            row("case does not matter", name, [.dns("A.TEST")], true),
            row("upper case asked for", try .name("A.Test"), [.dns("a.test")], true),
            row("another name", name, [.dns("b.test")], false),
            row("a name that ends like ours", name, [.dns("evila.test")], false),
            row("a parent", inner, [.dns("a.test")], false),
            row("a child", name, [.dns("x.a.test")], false),
            row("wildcard for one label", inner, [.dns("*.a.test")], true),
            row("wildcard not for two labels", try .name("y.x.a.test"), [.dns("*.a.test")], false),
            row("wildcard not for the bare name", name, [.dns("*.a.test")], false),
            row("wildcard for a label with an underscore", try .name("x_y.a.test"), [.dns("*.A.test")], true),
            row("wildcard below a hyphen", try .name("x.a-.test"), [.dns("*.a-.test")], true),
            row("wildcard below an underscore", try .name("x.a_b.test"), [.dns("*.a_b.test")], true),
            row(
                "wildcard of another name",
                try .name("x_y.a.test"),
                [.dns("*.b.test"), .dns("a.test")],
                false
            ),
            row("underscore, two labels", try .name("y.x_z.a.test"), [.dns("*.a.test")], false),
            row("underscore, one label below", try .name("x_y.test"), [.dns("*.test")], false),
            row("underscore, not inside a label", try .name("f_o.a.test"), [.dns("f*.a.test")], false),
            row("underscore, not leftmost", try .name("x_y.a.b.test"), [.dns("x_y.*.b.test")], false),
            row("wildcard not inside a label", try .name("foo.a.test"), [.dns("f*.a.test")], false),
            row("wildcard not at a label's end", try .name("foo.a.test"), [.dns("*oo.a.test")], false),
            row("wildcard not in the middle", inner, [.dns("x.*.test")], false),
            row("wildcard not inside an A-label", try .name("xn--a.a.test"), [.dns("xn--*.a.test")], false),
            row("name with a trailing dot", name, [.dns("a.test.")], false),
            row("name with a leading dot", inner, [.dns(".a.test")], false),
            row("name cut short by NUL", name, [.dns("a.test\0.evil.test")], false),
            row("common name alone", name, [], false, commonName: "a.test"),
            row("common name beside other names", name, [.dns("b.test")], false, commonName: "a.test"),
            row(
                "common name beside an address",
                name,
                [.address([127, 0, 0, 1])],
                false,
                commonName: "a.test"
            ),
            row("IPv4 address", v4, [.address([127, 0, 0, 1])], true),
            row("IPv6 address", v6, [.address(loopback6)], true),
            row("another IPv4 address", v4, [.address([127, 0, 0, 2])], false),
            row(
                "mapped form of the address",
                v4,
                [.address([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 127, 0, 0, 1])],
                false
            ),
            row("address as a DNS name", v4, [.dns("127.0.0.1")], false),
            row("address as common name", v4, [], false, commonName: "127.0.0.1"),
            row("wildcard for an address", v4, [.dns("*.0.0.1")], false),
        ]
    }
}
