import DirectHTTP
import Testing

@testable import SNIProbe

@Suite("Words of targets")
struct TargetWordTests {
    private func target(_ word: String) throws -> (target: ProbeTarget, ranges: [ProbeAddresses]) {
        guard case .target(let target, let ranges) = try TargetWord(word) else {
            throw TargetError.noTarget
        }
        return (target, ranges)
    }

    private func fault(_ word: String) -> String? {
        do throws(TargetError) {
            _ = try TargetWord(word)
            return nil
        } catch {
            return error.words.what
        }
    }

    @Test(
        "A word is read as host, port and addresses",
        arguments: [
            ("www.example.com", "www.example.com", 443, [String]()),
            ("WWW.Example.COM.", "www.example.com", 443, []),
            ("www.example.com:8443", "www.example.com", 8443, []),
            ("www.example.com@203.0.113.7", "www.example.com", 443, ["203.0.113.7"]),
            (
                "www.example.com@203.0.113.7,2001:db8::7", "www.example.com", 443,
                ["203.0.113.7", "2001:db8::7"]
            ),
            ("www.example.com:8443@[2001:db8::7]:9443", "www.example.com", 8443, ["[2001:db8::7]:9443"]),
            ("www.example.com:443:203.0.113.7", "www.example.com", 443, ["203.0.113.7"]),
            (
                "www.example.com:443:[2001:db8::7],203.0.113.7", "www.example.com", 443,
                ["2001:db8::7", "203.0.113.7"]
            ),
            ("www.example.com:443:2001:db8::7", "www.example.com", 443, ["2001:db8::7"]),
            ("203.0.113.7", "203.0.113.7", 443, ["203.0.113.7"]),
            ("[2001:db8::7]:8443", "2001:db8::7", 8443, ["2001:db8::7"]),
            ("https://www.example.com/x", "www.example.com", 443, []),
            ("https://www.example.com/x@203.0.113.7", "www.example.com", 443, ["203.0.113.7"]),
            (
                "https://www.example.com/@203.0.113.7,203.0.113.8", "www.example.com", 443,
                ["203.0.113.7", "203.0.113.8"]
            ),
            ("http://www.example.com/", "www.example.com", 80, []),
        ]
    )
    func aWordSaysWhomAndWhere(_ word: String, _ host: String, _ port: UInt16, _ places: [String]) throws {
        let (target, ranges) = try target(word)
        #expect(target.name == host)
        #expect(target.port == port)
        #expect(ranges.map { Endpoint($0.first, port: $0.port).description } == places)
    }

    @Test("An @ in the path of a URL separates only addresses")
    func anAtSignInAPathCountsOnlyBeforeAddresses() throws {
        let (target, ranges) = try target("https://www.example.com/@somebody")
        #expect(target.url?.path == "/@somebody")
        #expect(ranges.isEmpty)
    }

    @Test(
        "A word that cannot be read is quoted in the error, with its control characters escaped",
        arguments: [
            ("10.0.0.300", "'10.0.0.300' is not an IP address"),
            ("@10.0.0.300", "'10.0.0.300' is not an IP address"),
            ("www.example.com@", "there is no IP address after the @"),
            ("www.example.com@somebody", "'somebody' is not an IP address"),
            ("www.example.com:0", "'0' is not a port from 1 to 65535"),
            ("https://www.example.com:0/", "'0' is not a port from 1 to 65535"),
            ("10.0.0.1:0", "'0' is not a port from 1 to 65535"),
            ("[2001:db8::1]:https", "'https' is not a port from 1 to 65535"),
            ("[2001:db8::1", "'[2001:db8::1': not an IPv6 address in brackets, such as [2001:db8::1]:443"),
            ("[a.test]:443", "'[a.test]:443': not an IPv6 address in brackets, such as [2001:db8::1]:443"),
            ("www.example.com:https", "'https' is not a port from 1 to 65535"),
            ("www..example.com", "'www..example.com': a label of the host is empty"),
            (
                "https://user@www.example.com/",
                "'https://user@www.example.com/' has a user before its host, which is never sent"
            ),
            (
                "https://user:secret@www.example.com/",
                "'https://user:***@www.example.com/' has a user before its host, which is never sent"
            ),
            (
                "ftp://www.example.com/",
                "'ftp://www.example.com/': the URL's scheme is ftp, not http or https"
            ),
            ("@203.0.113.0/8", "'203.0.113.0/8' has more than 4096 addresses"),
            ("@203.0.113.0/33", "'203.0.113.0/33' has no prefix length from 0 to 32"),
            ("a\u{1B}[2Jb", "'a\\u{1b}[2Jb': the host contains the byte 0x1B, which is not allowed"),
        ]
    )
    func whatCannotBeReadIsQuotedAndNeverRaw(_ word: String, _ message: String) {
        #expect(fault(word) == message)
    }

    @Test(
        "A non-ASCII name in a URL is refused with what to write instead",
        arguments: [
            "https://bücher.example/", "https://bücher.example:8443", "http://bücher.example/ä?ö#ü",
        ]
    )
    func aNameBeyondASCIIInAURLAsWell(_ word: String) {
        #expect {
            try TargetWord(word)
        } throws: { error in
            (error as? TargetError)?.words.hint
                == "write it as in DNS and TLS, with xn--: idn2 NAME prints that"
        }
    }

    @Test("A URL with an address as host needs no resolver")
    func aURLWithAnAddressAsksNoResolver() throws {
        #expect(try target("https://[2001:db8::7]:8443/x").ranges == [ProbeAddresses("2001:db8::7")])
        #expect(try target("http://203.0.113.7/").ranges == [ProbeAddresses("203.0.113.7")])
        #expect(try target("https://203.0.113.7/@203.0.113.8").ranges == [ProbeAddresses("203.0.113.8")])
    }

    @Test("A port in place of an address gets a hint, and a bad address gets none")
    func aPortOfItsOwnIsToldWhereItBelongs() {
        #expect(
            TargetError.notAnAddress("443").words.hint == "write a port after its host: www.example.com:443"
        )
        #expect(TargetError.notAnAddress("10.0.0.300").words.hint == nil)
    }

    @Test("A non-ASCII name is refused with what to write instead")
    func aNameBeyondASCIIIsRefusedWithTheNameToWrite() {
        do throws(TargetError) {
            _ = try TargetWord("bücher.example")
            Issue.record("not refused")
        } catch {
            #expect(error.words.hint == "write it as in DNS and TLS, with xn--: idn2 NAME prints that")
        }
    }
}

@Suite("Ranges of addresses")
struct ProbeAddressesTests {
    @Test("A network has all its addresses, from the first")
    func aNetworkHasAllItsAddressesFromTheFirst() throws {
        let range = try ProbeAddresses("203.0.113.9/29")
        #expect((0..<range.count).map { range[$0].description } == (8...15).map { "203.0.113.\($0)" })
        let six = try ProbeAddresses("2001:db8::ff/126")
        #expect(
            (0..<six.count).map { six[$0].description } == [
                "2001:db8::fc", "2001:db8::fd", "2001:db8::fe", "2001:db8::ff",
            ]
        )
        #expect(try ProbeAddresses("203.0.113.7/32").count == 1)
        #expect(try ProbeAddresses("10.0.0.0/20").count == 4096)
    }
}

@Suite("Lines of targets")
struct TargetLineTests {
    private func line(_ text: String) throws -> [String] {
        let line = try TargetLine(text)
        return line.addresses.map { "\($0.first)" }
            + line.targets.map { entry in
                ([entry.target.name] + entry.ranges.map { "\($0.first)" }).joined(separator: " ")
            }
    }

    @Test(
        "A line is read in the forms of host files, lists and other tools",
        arguments: [
            ("", [String]()),
            ("# www.example.com", []),
            ("www.example.com # the new one", ["www.example.com"]),
            (
                "203.0.113.7 www.example.com example.com",
                ["www.example.com 203.0.113.7", "example.com 203.0.113.7"]
            ),
            ("203.0.113.7,www.example.com", ["www.example.com 203.0.113.7"]),
            ("203.0.113.7,www.example.com,tag", ["www.example.com 203.0.113.7"]),
            ("203.0.113.7,", ["203.0.113.7"]),
            ("203.0.113.7", ["203.0.113.7"]),
            ("203.0.113.7,203.0.113.8", ["203.0.113.7", "203.0.113.8"]),
            ("@203.0.113.7\r", ["203.0.113.7"]),
            ("www.example.com 203.0.113.7", ["www.example.com 203.0.113.7"]),
            ("www.example.com:443:203.0.113.7", ["www.example.com 203.0.113.7"]),
            ("\twww.example.com @203.0.113.7 @203.0.113.8", ["www.example.com 203.0.113.7 203.0.113.8"]),
        ]
    )
    func aLineReadsAsPeopleAndNeighboursWriteIt(_ text: String, _ meaning: [String]) throws {
        #expect(try line(text) == meaning)
    }
}
