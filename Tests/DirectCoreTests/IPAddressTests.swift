@testable import DirectCore
import DirectIO
import DirectTestData
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

@Suite("IP addresses")
struct IPAddressTests {
    /// Text as written, and its canonical form (RFC 5952).
    static let accepted: [(text: String, canonical: String)] = [
        ("0.0.0.0", "0.0.0.0"),
        ("203.0.113.7", "203.0.113.7"),
        ("255.255.255.255", "255.255.255.255"),
        ("::", "::"),
        ("::1", "::1"),
        ("1::", "1::"),
        ("2001:db8::7", "2001:db8::7"),
        ("2001:DB8:0:0:0:0:0:7", "2001:db8::7"),
        ("2001:0db8:0000:0000:0000:0000:0000:0007", "2001:db8::7"),
        ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
        ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"),
        ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
        ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
        ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"),
        ("1:2:3:4:5:6:0:0", "1:2:3:4:5:6::"),
        ("0:0:3:4:5:6:7:8", "::3:4:5:6:7:8"),
        ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"),
        ("::ffff:203.0.113.7", "::ffff:203.0.113.7"),
        ("::ffff:cb00:7107", "::ffff:203.0.113.7"),
        ("::203.0.113.7", "::cb00:7107"),
        ("64:ff9b::203.0.113.7", "64:ff9b::cb00:7107"),
        ("1:2:3:4:5:6:203.0.113.7", "1:2:3:4:5:6:cb00:7107"),
        ("fe80::1%eth0", "fe80::1%eth0"),
        ("FE80::1%2", "fe80::1%2"),
        ("fe80::1%br-lan.7_x~15", "fe80::1%br-lan.7_x~15"),
    ]

    @Test("A strict form is read, and written in canonical form", arguments: accepted)
    func reads(_ example: (text: String, canonical: String)) throws {
        let address = try #require(IPAddress(example.text))
        #expect(address.description == example.canonical)
        #expect(IPAddress(address.description) == address)
    }

    static let refused = [
        "", " ", ".", ":", ":::", "%", "%eth0", "1", "1.2.3", "1.2.3.4.5", "1.2.3.", ".1.2.3.4", "1..2.3",
        "01.2.3.4", "1.2.3.00", "1.2.3.256", "1.2.3.4444", "0x7f.1", "0x7f.0.0.1", "2130706433", "1.2.3.4 ",
        " 1.2.3.4", "+1.2.3.4", "1.2.3.-4", "١.2.3.4", "1.2.3.4%eth0", "1.2.3.4\n", "1.2.3.4\0",
        ":1", "1:", "1:::2", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::",
        "::1:2:3:4:5:6:7:8", "12345::", "g::", "::1 ", " ::1", "[::1]", "::1.2.3", "::1.2.3.4.5",
        "::01.2.3.4",
        "1.2.3.4::", "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3.4:5", "::ffff:1.2.3.4%eth0",
        "fe80::1%", "fe80::1%%", "fe80::1%eth 0", "fe80::1%eth/0", "fe80::1%abcdefghijklmnop", "fe80::1%ét",
        "fe80::1%a%b",
    ]

    @Test("Any other form is no address", arguments: refused)
    func refuses(_ text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test("Bytes make the address that they came from, in network order")
    func bytes() throws {
        let v4 = try #require(IPAddress("203.0.113.7"))
        #expect(v4.bytes == [203, 0, 113, 7])
        #expect(IPAddress(bytes: v4.bytes) == v4)
        let v6 = try #require(IPAddress("2001:db8::7"))
        #expect(v6.bytes == [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7])
        #expect(IPAddress(bytes: v6.bytes) == v6)
        #expect(IPAddress(bytes: [1, 2, 3]) == nil)
        #expect(IPAddress(bytes: [UInt8](repeating: 0, count: 17)) == nil)
    }

    @Test("A mapped address is recognised and converted to IPv4, and no other is")
    func mapped() throws {
        let mapped = try #require(IPAddress("::ffff:203.0.113.7"))
        #expect(mapped.isIPv4Mapped)
        #expect(mapped.family == .v6)
        #expect(mapped.unmapped == IPAddress("203.0.113.7"))
        for text in ["203.0.113.7", "::203.0.113.7", "::fffe:1.2.3.4", "1::ffff:1.2.3.4"] {
            let address = try #require(IPAddress(text))
            #expect(!address.isIPv4Mapped)
            #expect(address.unmapped == address)
        }
    }

    @Test("A zone is part of the address, as written")
    func zones() throws {
        let zoned = try #require(IPAddress("fe80::1%eth0"))
        #expect(zoned.zone == "eth0")
        #expect(zoned != IPAddress("fe80::1"))
        #expect(zoned != IPAddress("fe80::1%eth1"))
        #expect(zoned.withoutZone == IPAddress("fe80::1"))
        #expect(IPAddress("fe80::1")?.zone == nil)
    }

    @Test("IPv4 comes before IPv6, then the order is by number, then by zone")
    func order() {
        let sorted = [
            "0.0.0.1", "9.0.0.0", "10.0.0.0", "255.0.0.0", "::", "::1", "fe80::1", "fe80::1%a", "fe80::1%ab",
        ]
        #expect(sorted.reversed().compactMap { IPAddress($0) }.sorted().map(\.description) == sorted)
    }

    @Test("An address is converted to a sockaddr and back", arguments: ["203.0.113.7", "2001:db8::7", "::"])
    func socketAddress(_ text: String) throws {
        let address = try #require(IPAddress(text))
        let copy = try address.withSocketAddress(port: 8443) { pointer, length in
            #expect(length == (address.family == .v4 ? 16 : 28))
            return Endpoint(socketAddress: pointer)
        }
        #expect(copy == Endpoint(address, port: 8443))
    }

    @Test("A zone is the index of its interface in a sockaddr")
    func zoneIndex() throws {
        var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        _ = try #require(if_indextoname(1, &name))
        let interface = name.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } } ?? ""
        let named = try #require(IPAddress("fe80::1%\(interface)"))
        let index = try named.withSocketAddress(port: 1) { pointer, _ in
            #expect(IPAddress(socketAddress: pointer) == named)
            return UnsafeRawPointer(pointer).loadUnaligned(as: sockaddr_in6.self).sin6_scope_id
        }
        #expect(index == 1)
        let numbered = try #require(IPAddress("fe80::1%1"))
        #expect(
            try numbered.withSocketAddress(port: 1) { pointer, _ in IPAddress(socketAddress: pointer) }
                == named
        )
    }

    @Test("The error for a zone without an interface names the zone")
    func unknownZone() throws {
        let address = try #require(IPAddress("fe80::1%no-such-zone"))
        #expect(throws: AddressError.unknownZone("no-such-zone")) {
            try address.withSocketAddress(port: 1) { _, _ in }
        }
    }

    @Test("100,000 mutated texts are accepted and read exactly as by inet_pton")
    func agreesWithTheSystem() async {
        var random = SplitMix64(seed: 4291)
        let seeds = Self.accepted.map { Array($0.text.utf8) }.filter { !$0.contains(UInt8(ascii: "%")) }
        let alphabet = Array("0123456789abcfF.::%x ".utf8)
        for _ in 0..<100_000 {
            await Task.yield()
            var text = seeds.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                text.mutate(with: alphabet, using: &random)
            }
            let string = String(decoding: text, as: UTF8.self)
            // A percent sign begins a zone here; inet_pton knows none.
            let ours = IPAddress(string).flatMap { $0.zone == nil ? $0.bytes : nil }
            #expect(ours == systemBytes(string), "\(string)")
        }
    }

    private func systemBytes(_ text: String) -> [UInt8]? {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if inet_pton(family, text, &bytes) == 1 { return bytes }
        }
        return nil
    }
}
