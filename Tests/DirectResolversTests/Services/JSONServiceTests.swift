import DirectCore
import DirectIO
import DirectTLS
import DirectTestCommands
import TLSFixtures
import Testing

@testable import DirectResolvers

@Suite("DNS over JSON", .idleLimit)
struct DNSOverJSONTests {
    private static let v4 = """
        {"Status":0,"TC":false,"RD":true,"Question":{"name":"a.test.","type":1},"Answer":[
        {"name":"A.test.","TTL":70,"type":5,"data":"b.test."},{"name":"b.test","TTL":300,"type":1,"data":"192.0.2.1"},
        {"name":"other.test","TTL":1,"type":1,"data":"192.0.2.9"},{"name":"b.test","TTL":3,"type":16,"data":"text"},
        {"name":"b.test","TTL":60,"type":1,"data":"192.0.2.2"}]}
        """

    @Test("Aliases are followed, records of other names are ignored, and the shortest time counts")
    func answer() async throws {
        let server = try FixtureServer.start(.plain) { request in
            request.target.hasSuffix("type=1") ? .text(Self.v4) : .text("{\"Status\":0,\"Question\":[]}")
        }
        let answer = try await DNSOverJSON(.insecureHTTP([server.endpoint]), .trusting()).answer()
        #expect(answer.endpoints == ["192.0.2.1", "192.0.2.2"])
        #expect(answer.timeToLive == .seconds(60) && answer.canonicalName == .test("b.test"))
        let targets = server.requests.map(\.target).sorted()
        #expect(targets == ["/resolve?name=a.test&type=1", "/resolve?name=a.test&type=28"])
    }

    @Test(
        "The error for a malformed response says what is wrong with it",
        arguments: [
            ("", "it is not JSON: line 1: expected a value, found the end of the text"),
            ("[]", "it is not an object but an array"),
            ("{}", "Status is missing"),
            ("{\"Status\":\"0\"}", "Status is not a number but a string"),
            ("{\"Status\":0,\"Answer\":{}}", "Answer is not an array but an object"),
            ("{\"Status\":0,\"TC\":true}", "it is marked as truncated"),
            (record("\"TTL\":-1"), "Answer[0].TTL is not a number from 0 to 4294967295"),
            (record("\"TTL\":1.5"), "Answer[0].TTL is not a number from 0 to 4294967295"),
            (record("\"TTL\":\"60\""), "Answer[0].TTL is not a number but a string"),
            (record("\"TTL\":60", data: "1.2.3"), "Answer[0].data is not an address"),
            (record("\"TTL\":60", data: "::1"), "Answer[0].data is an address of the other family"),
            (record("\"TTL\":60", type: 5, data: "a.test."), "Answer has aliases that do not end"),
            (
                record("\"TTL\":60", type: 5, data: "a b"),
                "Answer[0].data is not a name: the host contains a space"
            ),
            (record("\"TTL\":60", data: "192.0.2.1").replacing("}]}", with: "}"), "it is not JSON"),
        ]
    )
    func broken(_ text: String, _ words: String) async throws {
        let server = try FixtureServer.saying(text)
        let resolver = DNSOverJSON(.insecureHTTP([server.endpoint]), .trusting { $0.families = .v4 })
        let complaint = try await resolver.complaint()
        #expect(complaint.hasPrefix("the answer makes no sense: \(words)"), "\(complaint)")
    }

    private static func record(_ time: String, type: Int = 1, data: String = "192.0.2.1") -> String {
        "{\"Status\":0,\"Answer\":[{\"name\":\"a.test.\",\(time),\"type\":\(type),\"data\":\"\(data)\"}]}"
    }

    @Test(
        "The server's code decides between answer, denial and failure",
        arguments: [
            (3, "the name does not exist"), (2, "the server refused: SERVFAIL"),
            (0, "the name has no address"),
        ]
    )
    func codes(_ code: Int, _ words: String) async throws {
        let server = try FixtureServer.saying("{\"Status\":\(code)}")
        #expect(try await DNSOverJSON(.insecureHTTP([server.endpoint]), .trusting()).complaint() == words)
    }
}

@Suite("Alibaba HTTPDNS", .idleLimit)
struct AlibabaHTTPDNSTests {
    private static let one =
        #"{"host":"a.test","ips":["192.0.2.1"],"ipsv6":["2001:db8::1"],"ttl":57,"origin_ttl":120}"#
    private static let two = """
        {"code":"success","mode":0,"data":{"cip":"1.2.3.4","answers":[{"dn":"a.test","v4":{"ips":["192.0.2.1"],"ttl":60},
        "v6":{"ips":[],"ttl":5,"no_ip_code":"NOERROR"}}]}}
        """

    @Test("Version 1 requests name and family, and reads both families")
    func versionOne() async throws {
        let server = try FixtureServer.saying(Self.one)
        let client = try #require(IPAddress("198.51.100.7"))
        let resolver = AlibabaHTTPDNS(
            account: "100 0",
            .insecureHTTP([server.endpoint]),
            clientAddress: client,
            .trusting()
        )
        let answer = try await resolver.answer()
        #expect(answer.endpoints == ["2001:db8::1", "192.0.2.1"])
        #expect(answer.timeToLive == .seconds(57) && answer.source == .resolver("Alibaba HTTPDNS"))
        #expect(server.requests.first?.target == "/100%200/d?host=a.test&query=4,6&ip=198.51.100.7")
    }

    @Test("Version 2 has a time for each family, and an empty one does not shorten the other")
    func versionTwo() async throws {
        let server = try FixtureServer.saying(Self.two)
        let resolver = AlibabaHTTPDNS(
            account: "100000",
            .insecureHTTP([server.endpoint]),
            version: .two,
            .trusting()
        )
        let answer = try await resolver.answer()
        #expect(answer.endpoints == ["192.0.2.1"] && answer.timeToLive == .seconds(60))
        let target = try #require(server.requests.first?.target)
        #expect(target.hasPrefix("/v2/d?id=100000&m=0&exp=") && target.hasSuffix("&v=1.0&dn=a.test&q=4%2C6"))
    }

    @Test("Questions are signed as the service demands")
    func signatures() throws {
        let time = UnixTime(seconds: 1_700_000_000)
        let one = AlibabaOneFormat(account: "100000", secret: Secret("secret"), clientAddress: nil)
        // md5 of "a.test-secret-1700000300", as md5sum has it
        let first = try one.questions(.test("a.test"), families: .v4, at: time)
        #expect(
            first.first?.target
                == "/100000/sign_d?host=a.test&query=4&t=1700000300&s=1bb881b8ceb32ead854c24a47d9daa51"
        )
        let two = AlibabaTwoFormat(account: "100000", secret: Secret("secret"), clientAddress: nil)
        let second = try two.questions(.test("a.test"), families: .both, at: time)
        // by openssl dgst -sha256 -hmac secret, of "dn=a.test&exp=1700000300&id=100000&m=0&q=4,6&v=1.0"
        #expect(
            second.first?.target
                == "/v2/d?id=100000&m=0&exp=1700000300&v=1.0&dn=a.test&q=4%2C6&s=07a272b4ca0b6123752b1c93b547e778e3fd3630d97962a097773e4e1579f9a0"
        )
    }

    @Test("Digests are those of RFC 1321 and RFC 4231")
    func digests() {
        let md5 = MessageDigest.md5
        #expect(md5.digest(of: []).map(Hex.encode) == "d41d8cd98f00b204e9800998ecf8427e")
        #expect(md5.digest(of: Array("abc".utf8)).map(Hex.encode) == "900150983cd24fb0d6963f7d28e17f72")
        let text = Array("what do ya want for nothing?".utf8)
        #expect(
            MessageDigest.hmacSHA256(text, key: Array("Jefe".utf8)).map(Hex.encode)
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        )
    }

    @Test("The service's own errors are reported, and never the secret")
    func refusals() async throws {
        let servers = try [
            FixtureServer.saying(#"{"code":"InvalidSignature"}"#, status: 403),
            FixtureServer.saying(#"{"code":"InvalidHost"}"#, status: 200),
        ]
        for (server, version) in zip(servers, [AlibabaHTTPDNS.Version.one, .two]) {
            let resolver = AlibabaHTTPDNS(
                account: "100000",
                secret: "hush",
                .insecureHTTP([server.endpoint]),
                version: version,
                .trusting()
            )
            let error = try await #require(
                #expect(throws: ResolverError.self) { try await resolver.answer() }
            )
            let words = version == .one ? "HTTP status 403, InvalidSignature" : "InvalidHost"
            #expect("\(error)" == "Alibaba HTTPDNS at \(server.endpoint): the server refused: \(words)")
            #expect(!"\(error)".contains("hush"))
        }
    }

    @Test(
        "The error for a malformed response of version 1 says what is wrong with it",
        arguments: [
            (#"{"ips":[]}"#, "host is missing"),
            (#"{"host":"b.test","ips":["192.0.2.1"]}"#, "host is another name"),
            (#"{"host":"a.test","ips":"192.0.2.1"}"#, "ips is not an array but a string"),
            (#"{"host":"a.test","ips":["192.0.2.1",7]}"#, "ips[1] is not a string but a number"),
            (#"{"host":"a.test","ips":["192.0.2.01"]}"#, "ips[0] is not an address"),
            (#"{"host":"a.test","ips":["2001:db8::1"]}"#, "ips[0] is an address of the other family"),
            (#"{"host":"a.test","ips":["192.0.2.1"],"ttl":-5}"#, "ttl is not a number from 0 to 4294967295"),
            (
                #"{"host":"a.test","ips":["192.0.2.1"],"ttl":99999999999999999999}"#,
                "ttl is not a number from 0 to 4294967295"
            ),
        ]
    )
    func brokenOne(_ text: String, _ words: String) async throws {
        let server = try FixtureServer.saying(text)
        let resolver = AlibabaHTTPDNS(account: "1", .insecureHTTP([server.endpoint]), .trusting())
        #expect(try await resolver.complaint() == "the answer makes no sense: \(words)")
    }

    @Test(
        "The error for a malformed response of version 2 says what is wrong with it",
        arguments: [
            (#"{"code":"success"}"#, "data is missing"),
            (#"{"code":"success","data":{"answers":[]}}"#, "data.answers does not have the name"),
            (
                #"{"code":"success","data":{"answers":[{"dn":"b.test","v4":{"ips":["192.0.2.1"],"ttl":1}}]}}"#,
                "data.answers does not have the name"
            ),
            (#"{"code":"success","mode":1,"data":"x"}"#, "mode is 1, and 0 was asked for"),
            (
                #"{"code":"success","data":{"answers":[{"dn":"a.test","v4":{"ips":["192.0.2.1"],"ttl":"x"}}]}}"#,
                "data.answers[0].v4.ttl is not a number but a string"
            ),
        ]
    )
    func brokenTwo(_ text: String, _ words: String) async throws {
        let server = try FixtureServer.saying(text)
        let resolver = AlibabaHTTPDNS(
            account: "1",
            .insecureHTTP([server.endpoint]),
            version: .two,
            .trusting()
        )
        #expect(try await resolver.complaint() == "the answer makes no sense: \(words)")
    }

    @Test("An empty list is an answer without addresses")
    func empty() async throws {
        let server = try FixtureServer.saying(#"{"host":"a.test","ips":[],"ttl":5}"#)
        let resolver = AlibabaHTTPDNS(account: "1", .insecureHTTP([server.endpoint]), .trusting())
        #expect(try await resolver.complaint() == "the name has no address")
    }
}

@Suite("DNSPod HTTPDNS", .idleLimit)
struct DNSPodHTTPDNSTests {
    @Test(
        "Addresses and their time to live are read",
        arguments: [
            ("192.0.2.1;192.0.2.2,600", Duration.seconds(600)), ("192.0.2.1;192.0.2.2\n", nil),
        ]
    )
    func answer(_ text: String, _ time: Duration?) async throws {
        let server = try FixtureServer.saying(text)
        let resolver = DNSPodHTTPDNS(.insecureHTTP([server.endpoint]), id: "7", token: "a&b", .trusting())
        let answer = try await resolver.answer()
        #expect(answer.endpoints == ["192.0.2.1", "192.0.2.2"] && answer.timeToLive == time)
        let targets = server.requests.map(\.target).sorted()
        #expect(targets == ["", "&type=aaaa"].map { "/d?dn=a.test&ttl=1\($0)&id=7&token=a%26b" })
    }

    @Test("IPv6 addresses are asked for if only these are wanted")
    func onlyIPv6() async throws {
        let server = try FixtureServer.saying("2001:db8::1;2001:db8::2,60")
        var settings = ServiceSettings.trusting()
        settings.families = .v6
        let answer = try await DNSPodHTTPDNS(.insecureHTTP([server.endpoint]), settings).answer()
        #expect(answer.endpoints == ["2001:db8::1", "2001:db8::2"])
        #expect(server.requests.map(\.target) == ["/d?dn=a.test&ttl=1&type=aaaa"])
    }

    @Test(
        "The error for a malformed response says what is wrong with it",
        arguments: [
            ("192.0.2.1;;192.0.2.2,600", "the answer makes no sense: address 2 is invalid"),
            ("192.0.2.1,-5", "the answer makes no sense: the time to live is not a number of seconds"),
            ("192.0.2.1,+5", "the answer makes no sense: the time to live is not a number of seconds"),
            ("192.0.2.1,5,6", "the answer makes no sense: it has more than one comma"),
            ("<html>", "the answer makes no sense: address 1 is invalid"),
            ("", "the name has no address"), ("\n", "the name has no address"),
        ]
    )
    func broken(_ text: String, _ words: String) async throws {
        let server = try FixtureServer.saying(text)
        #expect(try await DNSPodHTTPDNS(.insecureHTTP([server.endpoint]), .trusting()).complaint() == words)
    }
}
