import DirectResolvers
import Testing

@testable import DirectCore
@testable import DirectResolvers

@Suite("The data of HTTPS records")
struct ServiceBindingTests {
    /// The test vectors of RFC 9460, appendix D.2.
    private static let appendix: [(String, String)] = [
        ("1 .", "000100"),
        ("16 foo.example.com. port=53", "001003666f6f076578616d706c6503636f6d00000300020035"),
        ("1 foo.example.com. key667=hello", "000103666f6f076578616d706c6503636f6d00029b000568656c6c6f"),
        (
            "1 foo.example.com. key667=\"hello\\210qoo\"",
            "000103666f6f076578616d706c6503636f6d00029b000968656c6c6fd2716f6f"
        ),
        (
            "1 foo.example.com. ipv6hint=\"2001:db8::1,2001:db8::53:1\"",
            "000103666f6f076578616d706c6503636f6d000006002020010db800000000000000000000000120010db8000000000000000000530001"
        ),
        (
            "1 example.com. ipv6hint=\"2001:db8:122:344::192.0.2.33\"",
            "0001076578616d706c6503636f6d000006001020010db80122034400000000c0000221"
        ),
        (
            "16 foo.example.org. alpn=h2,h3-19 mandatory=ipv4hint,alpn ipv4hint=192.0.2.1",
            "001003666f6f076578616d706c65036f7267000000000400010004000100090268320568332d313900040004c0000201"
        ),
        (
            "16 foo.example.org. alpn=\"f\\\\\\\\oo\\\\,bar,h2\"",
            "001003666f6f076578616d706c65036f7267000001000c08665c6f6f2c626172026832"
        ),
        (
            "16 foo.example.org. alpn=f\\\\\\092oo\\092,bar,h2",
            "001003666f6f076578616d706c65036f7267000001000c08665c6f6f2c626172026832"
        ),
    ]

    private static func data(_ parameters: (UInt16, [UInt8])...) -> [UInt8] {
        ServiceData(parameters: parameters.map { ($0.0, $0.1) }).bytes
    }

    private static let longLabel: [UInt8] = [63] + Array(repeating: 97, count: 63)

    private static let malformedData: [(String, [UInt8])] = [
        ("keys out of order", data((4, [192, 0, 2, 1]), (3, [1, 187]))),
        ("a key twice", data((123, [1]), (123, [2]))),
        ("an empty list of mandatory keys", data((0, []))),
        ("half a mandatory key", data((0, [0, 1, 0]), (1, [2, 104, 50]))),
        ("mandatory is mandatory", data((0, [0, 0]))),
        ("mandatory keys out of order", data((0, [0, 4, 0, 1]), (1, [2, 104, 50]), (4, [192, 0, 2, 1]))),
        ("a mandatory key twice", data((0, [0, 3, 0, 3]), (3, [1, 187]))),
        ("no protocol", data((1, []))),
        ("an empty protocol", data((1, [2, 104, 50, 0]))),
        ("a protocol cut off", data((1, [3, 104, 50]))),
        ("no-default-alpn with a value", data((1, [2, 104, 50]), (2, [0]))),
        ("no port", data((3, []))),
        ("a port of three bytes", data((3, [0, 1, 187]))),
        ("no hint", data((4, []))),
        ("five bytes of hints", data((4, [192, 0, 2, 1, 1]))),
        ("an IPv4 address as IPv6 hint", data((6, [192, 0, 2, 1]))),
        ("no configurations", data((5, []))),
        ("configurations cut off", data((5, Array(ServiceData.ech.dropLast())))),
        ("a parameter cut off", Array(data((3, [1, 187])).dropLast())),
        ("a key without length", ServiceData().bytes + [0, 3]),
        ("no name", [0, 1]),
        ("no priority", [0]),
        ("nothing", []),
        ("a compressed name", [0, 1, 0xC0, 12]),
        ("a label cut off", [0, 1, 5, 97]),
        ("a name of 256 bytes", [0, 1] + longLabel + longLabel + longLabel + longLabel + [0]),
    ]

    private static let unusableData: [(String, [UInt8])] = [
        ("without http/1.1", data((1, [2, 104, 50]), (2, []))),
        ("an unknown mandatory key", data((0, [2, 155]), (667, [1]))),
        ("a mandatory key that is not there", data((0, [0, 3]))),
        ("no-default-alpn without alpn", data((2, []))),
        ("port 0", ServiceData.record(port: 0)),
        ("a target that is no host", ServiceData.record(1, "a b.test")),
        ("a target with a dot in a label", [0, 1, 3, 97, 46, 98, 0]),
        ("mandatory configurations of unknown versions", data((0, [0, 5]), (5, [0, 4, 0xFF, 3, 0, 0]))),
    ]

    @Test("The vectors of RFC 9460 say the same as text, as bytes, and as bytes in text", arguments: appendix)
    func vectors(_ text: String, _ hex: String) throws {
        let data = try #require(Hex.decode(hex))
        let binding = try #require(ServiceBinding(data))
        #expect(ServiceBinding(text: text) == binding)
        #expect(ServiceBinding(text: "\\# \(data.count) \(hex.prefix(4)) \(hex.dropFirst(4))") == binding)
        #expect(binding.isUsable)
    }

    @Test("All parameters are read")
    func parameters() throws {
        let data = ServiceData.record(
            7,
            "b.test",
            alpn: ["h2", "h3"],
            port: 8443,
            hints: ["192.0.2.1", "2001:db8::1"],
            ech: ServiceData.ech
        )
        let binding = try #require(ServiceBinding(data))
        #expect(binding.priority == 7 && binding.target == .test("b.test") && binding.port == 8443)
        #expect(binding.protocols.map { String(decoding: $0, as: UTF8.self) } == ["h2", "h3", "http/1.1"])
        #expect(binding.hints.map(\.description) == ["192.0.2.1", "2001:db8::1"])
        #expect(binding.encryptedClientHello?.publicName.description == "cover.example.test")
        #expect(binding.isUsable)
        let alias = try #require(ServiceBinding(ServiceData.record(0, "B.test", port: 1)))
        #expect(alias.priority == 0 && alias.target == .test("b.test") && alias.port == nil)
    }

    @Test("A malformed record is none, in whatever way it is malformed", arguments: malformedData)
    func malformed(_ fault: String, _ data: [UInt8]) {
        #expect(ServiceBinding(data) == nil)
    }

    @Test("A record that this client cannot use is well-formed, and not usable", arguments: unusableData)
    func unusable(_ reason: String, _ data: [UInt8]) throws {
        #expect(try !#require(ServiceBinding(data)).isUsable)
    }

    @Test("Configurations of unknown versions are like none, where they are not mandatory")
    func unknownConfigurations() throws {
        let binding = try #require(ServiceBinding(ServiceData.record(ech: [0, 4, 0xFF, 3, 0, 0])))
        #expect(binding.isUsable && binding.encryptedClientHello == nil)
    }

    @Test("The protocol http/1.1 counts where the record names it itself")
    func ownProtocol() throws {
        let data = ServiceData(parameters: [(1, ServiceData.names(["h2", "http/1.1"])), (2, [])]).bytes
        let binding = try #require(ServiceBinding(data))
        #expect(binding.isUsable && binding.protocols.count == 2)
    }

    @Test("One malformed record makes all void, an alias hides the others, and the priority orders them")
    func sets() {
        let (first, second) = (ServiceBinding(ServiceData.record(1)), ServiceBinding(ServiceData.record(2)))
        let alias = ServiceBinding(ServiceData.record(0, "b.test"))
        let useless = ServiceBinding(ServiceData.record(port: 0))
        #expect(ServiceBindings([second, useless, first]) == .services([first, second].compactMap { $0 }))
        #expect(ServiceBindings([first, nil]) == .unusable(protocols: nil))
        #expect(ServiceBindings([first, alias]) == .alias(.test("b.test")))
        #expect(ServiceBindings([ServiceBinding(ServiceData.record(0))]) == .services([]))
        #expect(ServiceBindings([]) == .services([]))
    }

    @Test(
        "Text that is no record is none",
        arguments: [
            "", "1", "x .", "65536 .", "1 . alpn", "1 . alpn=", "1 . port=x", "1 . port=65536",
            "1 . ipv4hint=1.2.3",
            "1 . ipv4hint=::1", "1 . ech=?", "1 . port=1 port=2", "1 . \"", "1 . alpn=\\", "1 . alpn=\\25",
            "1 . alpn=\\256", "\\# 4 000100", "\\# 3 0001", "\\# x 000100", "\\# 3 00010g", "1 . =1",
            "1 \(String(repeating: "a", count: 64)). ", "1 a..b", "1 .b", "1 a..", "1 \"\" port=1",
        ]
    )
    func malformedText(_ text: String) {
        #expect(ServiceBinding(text: text) == nil)
    }

    @Test("A dot in a name ends a label, unless it is escaped: then the name is no host's")
    func escapedNames() throws {
        #expect(try #require(ServiceBinding(text: "1 a.b.")).target == .test("a.b"))
        #expect(try #require(ServiceBinding(text: "1 \\097.b")).target == .test("a.b"))
        for text in ["1 a\\.b", "1 a\\046b"] {
            let binding = try #require(ServiceBinding(text: text))
            #expect(binding.target == nil && !binding.isUsable)
        }
    }

    @Test("A parameter with an unknown name is left out, and makes the record useless where it is mandatory")
    func unknownNames() throws {
        #expect(try #require(ServiceBinding(text: "1 . novelty=1 port=53")).port == 53)
        let mandatory = try #require(ServiceBinding(text: "1 . novelty=1 mandatory=novelty"))
        #expect(!mandatory.isUsable)
    }
}
