@testable import DirectCore
import DirectIO
@testable import DirectTransport
import Testing

@Suite("Vetting of addresses")
struct AddressVettingTests {
    private let anyone: HTTPHost

    init() throws { anyone = .name(try DomainName("a.test")) }

    private func objection(_ text: String, _ vetting: AddressVetting = .publicInternetOnly) throws -> String?
    {
        vetting.refusal(of: try #require(IPAddress(text), "\(text)"), for: anyone, port: 443)?.reason
    }

    private func range(_ text: String) throws -> AddressRange { try AddressRange(text) }

    /// The rows of IANA's two registries whose "globally reachable" is false or not said, and what lies
    /// beside them in no registry of reachable addresses.
    static let refusedRanges = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
        "192.0.0.0/29", "192.0.0.8/32", "192.0.0.170/32", "192.0.0.171/32", "192.0.0.128/25", "192.0.2.0/24",
        "192.88.99.0/24", "192.88.99.2/32", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4", "255.255.255.255/32",
        "::/128", "::1/128", "::/96", "64:ff9b:1::/48", "64:ff9b::1:0:0/96", "100::/64", "100:0:0:1::/64",
        "2001::/32", "2001:2::/48", "2001:db8::/32", "2001:10::/28", "2001:100::/24", "2002::/16",
        "3fff::/20",
        "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8", "4000::/3", "8000::/3",
        "::ffff:0:0:0/96",
        "2001:1::/128", "2001:1::4/128", "2001:4::/48",
    ]

    @Test(
        "An address that IANA does not call globally reachable is refused, from the first to the last",
        arguments: refusedRanges
    )
    func special(_ text: String) throws {
        let range = try range(text)
        for address in range.ends { #expect(try objection(address.description) != nil, "\(address)") }
    }

    static let reachableRanges = [
        "1.0.0.0/8", "8.8.8.8/32", "9.255.255.255/32", "11.0.0.0/8", "100.63.255.255/32", "100.128.0.0/32",
        "126.255.255.255/32", "128.0.0.0/32", "169.253.255.255/32", "169.255.0.0/32", "172.15.255.255/32",
        "172.32.0.0/32", "191.255.255.255/32", "192.0.0.9/32", "192.0.0.10/32", "192.0.1.0/24",
        "192.0.3.0/24",
        "192.31.196.0/24", "192.52.193.0/24", "192.88.98.255/32", "192.88.100.0/32", "192.167.255.255/32",
        "192.169.0.0/32", "192.175.48.0/24", "198.17.255.255/32", "198.20.0.0/32", "198.51.99.255/32",
        "198.51.101.0/32", "203.0.112.255/32", "203.0.114.0/32", "223.255.255.255/32",
        "2000::/32", "2001:1::1/128", "2001:1::2/128", "2001:1::3/128", "2001:3::/32", "2001:4:112::/48",
        "2001:20::/28", "2001:30::/28", "2001:200::/32", "2001:db7:ffff::/48", "2001:db9::/32", "2003::/16",
        "2606:4700::/32", "2620:4f:8000::/48", "2a00::/12", "3ffe:ffff::/32", "3fff:1000::/20",
        "64:ff9b::808:808/128", "::ffff:8.8.8.8/128",
    ]

    @Test(
        "A globally reachable address is permitted, up to the edges of the special ranges",
        arguments: reachableRanges
    )
    func reachable(_ text: String) throws {
        let range = try range(text)
        for address in range.ends { #expect(try objection(address.description) == nil, "\(address)") }
    }

    @Test("A special IPv4 address inside an IPv6 address is refused, and no other one is")
    func embedded() throws {
        let prefixes = ["::ffff:", "64:ff9b::"]
        let cases = Self.refusedRanges.map { ($0, true) } + Self.reachableRanges.map { ($0, false) }
        for (text, isRefused) in cases where try range(text).family == .v4 {
            for inner in try range(text).ends {
                for prefix in prefixes {
                    #expect(
                        try (objection(prefix + inner.description) != nil) == isRefused,
                        "\(prefix)\(inner)"
                    )
                }
                for identifier in ["::5efe:", "::200:5efe:"] {
                    let text = "2606:4700" + identifier + inner.description
                    #expect(try (objection(text) != nil) == isRefused, "\(text)")
                }
            }
        }
        #expect(try objection("::ffff:127.0.0.1") == "it leads to 127.0.0.1: loopback (RFC 1122)")
        #expect(try objection("::127.0.0.1") != nil)
        #expect(try objection("2002:7f00:1::") != nil)
        #expect(try objection("fe80::1%eth0") == "link-local (RFC 4291)")
        // Its target is public, but only this network has a route to it.
        #expect(try objection("fe80::5efe:8.8.8.8") == "link-local (RFC 4291)")
        #expect(try objection("fd00::200:5efe:8.8.8.8") == "unique-local (RFC 4193)")
    }

    @Test(
        "An IPv4 address behind a translator's prefix of any length is recognised",
        arguments: [
            ("2606:4700::/32", "2606:4700:7f00:1::"),
            ("2606:4700:100::/40", "2606:4700:17f:0:1::"),
            ("2606:4700:122::/48", "2606:4700:122:7f00:0:100::"),
            ("2606:4700:122:300::/56", "2606:4700:122:37f:0:1::"),
            ("2606:4700:122:344::/64", "2606:4700:122:344:7f:0:100::"),
            ("2606:4700:122:344::/96", "2606:4700:122:344::127.0.0.1"),
        ]
    )
    func translators(_ prefix: String, _ address: String) throws {
        let vetting = AddressVetting.publicInternetOnly(translators: [try range(prefix)])
        #expect(try objection(address) == nil)
        #expect(try objection(address, vetting) == "it leads to 127.0.0.1: loopback (RFC 1122)")
    }

    @Test("Behind a translator whose prefix is not public the IPv4 address decides")
    func localTranslator() throws {
        let vetting = AddressVetting.publicInternetOnly(translators: [try range("64:ff9b:1::/96")])
        #expect(try objection("64:ff9b:1::808:808") != nil)
        #expect(try objection("64:ff9b:1::808:808", vetting) == nil)
        #expect(try objection("64:ff9b:1::a00:1", vetting)?.hasPrefix("it leads to 10.0.0.1") == true)
        #expect(try objection("64:ff9b:1:1::808:808", vetting) != nil)
    }

    @Test(
        "Behind a translator's prefix of another length no address is allowed",
        arguments: [28, 60, 97, 128]
    )
    func unknownTranslators(length: Int) throws {
        let vetting = AddressVetting.publicInternetOnly(translators: [try range("2606:4700::/\(length)")])
        #expect(
            try objection("2606:4700::", vetting)
                == "it leads to an unknown address, in 2606:4700::/\(length)"
        )
    }

    @Test(
        "An address behind a translator that looks like one of ISATAP is checked as both",
        arguments: [
            ("2600:1::/32", "2600:1:a9fe:a9fe:0:5efe:808:808"),
            ("2600:1:2::/48", "2600:1:2:c0a8:0:5efe:808:808"),
            ("2600:1:2:3::/80", "2600:1:2:3:0:5efe:808:808"),
            ("2606:4700:122:344::/96", "2606:4700:122:344::5efe:7f00:1"),
        ]
    )
    func translatedLikeISATAP(_ prefix: String, _ address: String) throws {
        let vetting = AddressVetting.publicInternetOnly(translators: [try range(prefix)])
        #expect(try objection(address, vetting) != nil)
    }

    @Test("A permission opens special ranges, and a denial overrides it, inside IPv6 addresses, too")
    func lists() throws {
        let vetting = AddressVetting.publicInternetOnly(
            allowing: [try range("10.0.0.0/8"), try range("fd00::/8")],
            denying: [try range("10.1.0.0/16"), try range("8.8.8.8")]
        )
        #expect(try objection("10.0.0.1", vetting) == nil)
        #expect(try objection("::ffff:10.0.0.1", vetting) == nil)
        #expect(try objection("64:ff9b::10.0.0.1", vetting) == nil)
        #expect(try objection("fd00::1", vetting) == nil)
        #expect(try objection("fc00::1", vetting) != nil)
        #expect(try objection("10.1.0.1", vetting) == "denied, in 10.1.0.0/16")
        #expect(try objection("::ffff:10.1.0.1", vetting) == "denied, in 10.1.0.0/16")
        #expect(try objection("64:ff9b::8.8.8.8", vetting) == "denied, in 8.8.8.8/32")
        #expect(try objection("9.9.9.9", vetting) == nil)
    }

    @Test("A custom rule gets host and port, and rules add up")
    func own() throws {
        let webOnly = AddressVetting { address, host, port in
            port == 443 && host.name != nil ? nil : AddressRefusal(address, "not the web")
        }
        let vetting = AddressVetting.publicInternetOnly.and(webOnly)
        let address = try #require(IPAddress("8.8.8.8"))
        #expect(vetting.refusal(of: address, for: anyone, port: 443) == nil)
        #expect(vetting.refusal(of: address, for: anyone, port: 25) == AddressRefusal(address, "not the web"))
        #expect(vetting.refusal(of: address, for: .address(address), port: 443)?.reason == "not the web")
        #expect(try objection("127.0.0.1", vetting) == "loopback (RFC 1122)")
    }

    @Test(
        "Ranges are parsed strictly",
        arguments: [
            "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/08", "10.0.0.1/8", "10.0.0/8", "::/129", "fe80::1%a/128",
            "/8", "",
            "10.0.0.0/-1", "10.0.0.0/8/8", "2001:db8::1/32", "10.0.0.0/+8",
        ]
    )
    func brokenRanges(_ text: String) {
        #expect(throws: AddressError.self) { try AddressRange(text) }
    }

    @Test(
        "Ranges are written as they are read",
        arguments: ["10.0.0.0/8", "0.0.0.0/0", "::/0", "2001:db8::/32"]
    )
    func written(_ text: String) throws {
        #expect(try range(text).description == text)
        #expect(try range("192.0.2.7").description == "192.0.2.7/32")
    }
}

extension AddressRange {
    /// The lowest and the highest address.
    fileprivate var ends: [IPAddress] {
        [number, number | (UInt128(1) << UInt128(freeBits) &- 1)].map { IPAddress(family, $0) }
    }
}
