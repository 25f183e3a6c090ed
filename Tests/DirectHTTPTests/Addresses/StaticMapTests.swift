import DirectCore
import DirectHTTP
import DirectIO
import DirectTestData
import Testing

@Suite("Static maps")
struct StaticMapTests {
    private func dialled(_ map: StaticMap, _ host: String, _ port: UInt16 = 443) throws -> [String]? {
        try map.endpoints(for: HTTPHost(host), port: port)?.map(\.description)
    }

    @Test("A map reads curl's entries: names, several addresses of both families, with their own ports")
    func curlEntries() throws {
        let map = try StaticMap(curl: [
            "www.Example.com:443:203.0.113.7",
            "six.example:443:2001:db8::7,[2001:db8::8],[2001:db8::9]:8443,203.0.113.7:81",
            "zone.example:443:fe80::1%eth0",
            "203.0.113.1:80:203.0.113.2",
            "[2001:db8::1]:80:[2001:db8::2]",
            "any.example:*:203.0.113.3",
        ])
        #expect(try dialled(map, "WWW.example.com") == ["203.0.113.7"])
        #expect(try dialled(map, "www.example.com", 80) == nil)
        #expect(
            try dialled(map, "six.example")
                == ["2001:db8::7", "2001:db8::8", "[2001:db8::9]:8443", "203.0.113.7:81"]
        )
        #expect(try dialled(map, "zone.example") == ["fe80::1%eth0"])
        #expect(try dialled(map, "203.0.113.1", 80) == ["203.0.113.2"])
        #expect(try dialled(map, "2001:db8::1", 80) == ["2001:db8::2"])
        #expect(try dialled(map, "any.example", 12345) == ["203.0.113.3"])
        #expect(try dialled(map, "other.example") == nil)
        #expect(map.count == 6)
    }

    @Test("The most specific entry wins: exact name, longest suffix, any name; and a port before any port")
    func precedence() throws {
        let map = try StaticMap(curl: [
            "*:*:127.0.0.1", "*:443:127.0.0.2",
            "*.example.com:*:127.0.0.3", "*.example.com:443:127.0.0.4",
            "*.b.example.com:443:127.0.0.5",
            "a.b.example.com:*:127.0.0.6", "a.b.example.com:443:127.0.0.7",
            "only.example.com:8443:127.0.0.8",
        ])
        #expect(try dialled(map, "a.b.example.com", 443) == ["127.0.0.7"])
        #expect(try dialled(map, "a.b.example.com", 80) == ["127.0.0.6"])
        #expect(try dialled(map, "x.a.b.example.com", 443) == ["127.0.0.5"])
        #expect(try dialled(map, "x.a.b.example.com", 80) == ["127.0.0.3"])
        #expect(try dialled(map, "c.example.com", 443) == ["127.0.0.4"])
        #expect(try dialled(map, "only.example.com", 443) == ["127.0.0.4"])
        #expect(try dialled(map, "example.com", 443) == ["127.0.0.2"])
        #expect(try dialled(map, "evilexample.com", 80) == ["127.0.0.1"])
        #expect(try dialled(map, "192.0.2.1", 443) == ["127.0.0.2"])
    }

    @Test("A later entry replaces an earlier one, and a minus removes it")
    func replacement() throws {
        let map = try StaticMap(curl: [
            "a.example:443:127.0.0.1", "a.example:443:127.0.0.2", "b.example:443:127.0.0.3", "-b.example:443",
            "*.c.example:443:127.0.0.4", "-*.c.example:443", "[::1]:443:127.0.0.5", "-[::1]:443",
            "*:*:127.0.0.6", "-*:*", "-never.example:443",
        ])
        #expect(try map == StaticMap(curl: ["a.example:443:127.0.0.2"]))
        #expect(try dialled(map, "x.c.example") == nil)
    }

    static let refused: [(entry: String, fault: StaticMapError)] = [
        ("", .notAnEntry),
        ("a.example", .notAnEntry),
        ("a.example:443", .notAnEntry),
        ("[::1]", .notAnEntry),
        ("[::1", .notAnEntry),
        ("-", .notAnEntry),
        ("-a.example:443:127.0.0.1", .notAnEntry),
        ("+a.example:443:127.0.0.1", .timedEntry),
        (":443:127.0.0.1", .host(.missing)),
        ("a b:443:127.0.0.1", .host(.invalidCharacter(0x20))),
        ("a*.example:443:127.0.0.1", .host(.invalidCharacter(0x2A))),
        ("*a.example:443:127.0.0.1", .host(.invalidCharacter(0x2A))),
        ("*.:443:127.0.0.1", .host(.missing)),
        ("*.1.2.3.4:443:127.0.0.1", .host(.looksNumeric)),
        ("1.2.3:443:127.0.0.1", .host(.looksNumeric)),
        ("[1.2.3.4]:443:127.0.0.1", .host(.notIPv6)),
        ("a.example::127.0.0.1", .invalidPort),
        ("a.example:0:127.0.0.1", .invalidPort),
        ("a.example:65536:127.0.0.1", .invalidPort),
        ("a.example:https:127.0.0.1", .invalidPort),
        ("a.example:443:", .noAddresses),
        ("a.example:443:127.0.0.1,", .address(.empty)),
        ("a.example:443:,127.0.0.1", .address(.empty)),
        ("a.example:443:127.0.0.1, 127.0.0.2", .address(.notAnAddress(" 127.0.0.2"))),
        ("a.example:443:1.2.3", .address(.notAnAddress("1.2.3"))),
        ("a.example:443:b.example", .address(.notAnAddress("b.example"))),
        ("a.example:443:127.0.0.1:0", .address(.invalidPort("0"))),
    ]

    @Test("The error for a broken entry names line and part", arguments: refused)
    func refuses(_ example: (entry: String, fault: StaticMapError)) {
        #expect(throws: StaticMapError.line(2, example.fault)) {
            try StaticMap(curl: ["ok.example:443:127.0.0.1", example.entry])
        }
    }

    @Test("An empty list and a faulty literal are errors, and do not change the map")
    func setting() throws {
        var map = StaticMap()
        let pattern = try HostPattern("a.example")
        #expect(throws: StaticMapError.noAddresses) { try map.set([], for: pattern) }
        #expect(throws: StaticMapError.address(.notAnAddress("b"))) {
            try map.set(["127.0.0.1", "b"], for: pattern)
        }
        #expect(map.isEmpty)
        try map.set(["127.0.0.1"], for: pattern, port: 80)
        #expect(try dialled(map, "a.example", 80) == ["127.0.0.1"])
        map.remove(pattern)
        #expect(map.count == 1)
        map.remove(pattern, port: 80)
        #expect(map.isEmpty)
    }

    @Test("A pattern is written as it is read", arguments: ["*", "*.example.com", "example.com", "::1"])
    func patterns(_ text: String) throws {
        #expect(try HostPattern(text).description == text)
    }

    @Test("A hosts file gives each name its addresses, on any port")
    func hostsFile() throws {
        let map = StaticMap(
            hosts: """
                # local names
                127.0.0.1\tlocalhost  LocalHost.localdomain # twice
                ::1  localhost ip6-localhost

                fe80::1%lo0 localhost\r
                127.0.0.1 localhost
                   #
                """
        )
        #expect(try dialled(map, "localhost", 1) == ["127.0.0.1", "::1", "fe80::1%lo0"])
        #expect(try dialled(map, "localhost.localdomain") == ["127.0.0.1"])
        #expect(try dialled(map, "ip6-localhost") == ["::1"])
        #expect(map.count == 3)
    }

    static let brokenHosts: [(text: String, fault: StaticMapError)] = [
        ("127.0.0.1 a\n127.0.0.1", .line(2, .noNames)),
        ("127.0.0.1 # a", .line(1, .noNames)),
        ("\n\nlocalhost 127.0.0.1", .line(3, .address(.notAnAddress("localhost")))),
        ("127.0.0.1 a b..c c", .line(1, .host(.emptyLabel))),
        ("127.0.0.1 é", .line(1, .host(.notASCII))),
    ]

    @Test("A hosts file is read from its path, and the error for an unreadable one says so")
    func hostsFilePath() throws {
        let folder = try TemporaryFolder()
        try folder.write("192.0.2.1 a.test  # staging\n::1 a.test\n", "hosts")
        let map = try StaticMap(hostsFile: folder.path + "/hosts")
        #expect(map.endpoints(for: try HTTPHost("a.test"), port: 80) == ["192.0.2.1", "::1"])
        for name in ["none", "."] {
            let fault = #expect(throws: StaticMapError.self) {
                try StaticMap(hostsFile: folder.path + "/" + name)
            }
            #expect(fault?.description.hasPrefix(folder.path) == true, "\(fault as Any)")
        }
    }

    @Test(
        "What is no mapping in a hosts file is skipped, and the fault names line and part",
        arguments: brokenHosts
    )
    func skipsHosts(_ example: (text: String, fault: StaticMapError)) throws {
        var faults: [StaticMapError] = []
        let map = StaticMap(hosts: "\(example.text)\n192.0.2.1 last.test") { faults.append($0) }
        #expect(faults == [example.fault])
        #expect(map.endpoints(for: try HTTPHost("last.test"), port: 80) == ["192.0.2.1"])
        let hasRest = example.text.hasSuffix(" c")
        #expect(map.endpoints(for: try HTTPHost("c"), port: 80) == (hasRest ? ["127.0.0.1"] : nil))
    }

    @Test("Hosts files that people have are read: a byte order mark, a trailing dot, an address as a name")
    func foundHosts() throws {
        let text = "\u{FEFF}127.0.0.1 localhost.\r\n0.0.0.0 0.0.0.0\n0.0.0.0 ads.test\n"
        var skipped: [String] = []
        let map = StaticMap(hosts: text) { skipped.append("\($0)") }
        #expect(map.endpoints(for: try HTTPHost("localhost"), port: 80) == ["127.0.0.1"])
        #expect(map.endpoints(for: try HTTPHost("ads.test"), port: 80) == ["0.0.0.0"])
        #expect(skipped.count == 1 && skipped.first?.hasPrefix("line 2: ") == true && map.count == 2)
    }

    @Test("20,000 mutated entries are read or refused")
    func mutations() async {
        var random = SplitMix64(seed: 7)
        let alphabet = Array("a.*:,-+[]0123456789% \té#\n".utf8)
        let seeds = ["a.example:443:127.0.0.1,::1", "-*.a:*", "[::1]:80:[fe80::1%a]:81", "127.0.0.1 a b # c"]
        for _ in 0..<20_000 {
            await Task.yield()
            var bytes = Array((seeds.randomElement(using: &random) ?? "").utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes.mutate(with: alphabet, using: &random)
            }
            let text = String(decoding: bytes, as: UTF8.self)
            for map in [try? StaticMap(curl: [text]), StaticMap(hosts: text)].compactMap({ $0 }) {
                #expect(map.count >= 0)
            }
        }
    }
}
