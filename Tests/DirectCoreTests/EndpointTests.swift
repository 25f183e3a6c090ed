@testable import DirectCore
import DirectIO
import DirectTestData
import Testing

@Suite("Endpoints")
struct EndpointTests {
    static let accepted: [(text: String, address: String, port: UInt16?)] = [
        ("203.0.113.7", "203.0.113.7", nil),
        ("203.0.113.7:8443", "203.0.113.7", 8443),
        ("203.0.113.7:1", "203.0.113.7", 1),
        ("203.0.113.7:65535", "203.0.113.7", 65535),
        ("2001:db8::7", "2001:db8::7", nil),
        ("::1:8443", "::1:8443", nil),
        ("[2001:db8::7]", "2001:db8::7", nil),
        ("[2001:db8::7]:8443", "2001:db8::7", 8443),
        ("fe80::1%eth0", "fe80::1%eth0", nil),
        ("[fe80::1%eth0]:443", "fe80::1%eth0", 443),
    ]

    @Test("An address with or without a port is read", arguments: accepted)
    func reads(_ example: (text: String, address: String, port: UInt16?)) throws {
        let endpoint = try Endpoint(example.text)
        #expect(endpoint.address.description == example.address)
        #expect(endpoint.port == example.port)
        #expect(try Endpoint(endpoint.description) == endpoint)
    }

    static let refused: [(text: String, fault: AddressError)] = [
        ("", .empty),
        ("www.example.com", .notAnAddress("www.example.com")),
        ("203.0.113", .notAnAddress("203.0.113")),
        ("203.0.113.07:80", .notAnAddress("203.0.113.07:80")),
        (" 203.0.113.7", .notAnAddress(" 203.0.113.7")),
        ("203.0.113.7:", .invalidPort("")),
        ("203.0.113.7:0", .invalidPort("0")),
        ("203.0.113.7:080", .invalidPort("080")),
        ("203.0.113.7:65536", .invalidPort("65536")),
        ("203.0.113.7:123456789012345678901234567890", .invalidPort("123456789012345678901234567890")),
        ("203.0.113.7:+80", .invalidPort("+80")),
        ("203.0.113.7:http", .invalidPort("http")),
        ("203.0.113.7:80:80", .notAnAddress("203.0.113.7:80:80")),
        ("[203.0.113.7]:80", .notIPv6("203.0.113.7")),
        ("[2001:db8::g]:80", .notIPv6("2001:db8::g")),
        ("[2001:db8::7", .unclosedBracket),
        ("2001:db8::7]", .notAnAddress("2001:db8::7]")),
        ("[2001:db8::7]8443", .textAfterBracket("8443")),
        ("[2001:db8::7]:", .invalidPort("")),
        ("[2001:db8::7]:x", .invalidPort("x")),
    ]

    @Test("The error for a broken endpoint names the part", arguments: refused)
    func refuses(_ example: (text: String, fault: AddressError)) {
        #expect(throws: example.fault) { try Endpoint(example.text) }
    }

    @Test("A literal that is no address keeps its error and cannot be dialled")
    func faultyLiteral() throws {
        let endpoints: [Endpoint] = ["203.0.113.7", "www.example.com:443"]
        #expect(endpoints[0].fault == nil)
        #expect(endpoints[1].fault == .notAnAddress("www.example.com:443"))
        #expect(endpoints[1].description == "www.example.com:443")
        #expect(throws: AddressError.notAnAddress("www.example.com:443")) {
            try endpoints[1].withSocketAddress(defaultPort: 443) { _, _ in }
        }
        #expect(endpoints[1] != Endpoint(endpoints[1].address))
    }

    @Test("The URL's port is used if the endpoint has none")
    func defaultPort() throws {
        let dialled = try ["203.0.113.7", "[2001:db8::7]:8443"].map { (endpoint: Endpoint) in
            try endpoint.withSocketAddress(defaultPort: 443) { pointer, _ in Endpoint(socketAddress: pointer)
            }
        }
        #expect(dialled.map { $0?.port } == [443, 8443])
    }

    @Test("The text in an error is bounded and has no control characters")
    func words() {
        let fault = AddressError.notAnAddress("1\r\nX: y" + String(repeating: "z", count: 10_000))
        #expect(fault.description.count < 150)
        #expect(!fault.description.unicodeScalars.contains { $0.value < 32 })
    }

    @Test("20,000 mutated texts are read to the same value again, or refused")
    func stability() async throws {
        var random = SplitMix64(seed: 5952)
        let alphabet = Array("0123456789abcdef.:[]%eth \0é".utf8)
        for _ in 0..<20_000 {
            await Task.yield()
            var bytes = Array((Self.accepted.randomElement(using: &random)?.text ?? "").utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes.mutate(with: alphabet, using: &random)
            }
            let text = String(decoding: bytes, as: UTF8.self)
            guard let endpoint = try? Endpoint(text) else { continue }
            #expect(try Endpoint(endpoint.description) == endpoint)
        }
    }
}
