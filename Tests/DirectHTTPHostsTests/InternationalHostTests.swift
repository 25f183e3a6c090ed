import DirectHTTP
import DirectHTTPHosts
import DirectTestData
import Testing

@Suite("Hosts as people type them")
struct InternationalHostTests {
    private func result(of name: String) -> Result<String, InternationalHostError> {
        do throws(InternationalHostError) {
            return .success(try HTTPHost(international: name).description)
        } catch {
            return .failure(error)
        }
    }

    private func ascii(_ name: String) -> String? { try? result(of: name).get() }

    @Test("Names have the form that other programs give them, and others are refused")
    func drawn() throws {
        var counts = (accepted: 0, strict: 0, differ: 0)
        for vector in try HostVector.all(in: "drawn.txt") {
            let (result, theirs) = (result(of: vector.name), vector.verdicts)
            let ours = (try? result.get()) ?? "!"
            if ours != "!" { counts.accepted += 1 }
            if vector.isAmbiguous {
                #expect(ours == "!", "\(vector)")
            } else if theirs[0].hasPrefix("~") {
                #expect(ours == "!" || "~" + ours == theirs[0], "\(vector): \(ours)")
            } else if theirs[0] != theirs[1] {
                counts.differ += 1
                #expect(ours == "!" || theirs.contains(ours), "\(vector): \(ours)")
            } else if result == .failure(.direction) {
                // They apply the rule to labels that have such characters, RFC 5893 to all of the name's.
                if theirs[0] != "!" { counts.strict += 1 }
            } else {
                // What has a number or an empty label at its end is no name here.
                #expect(ours == theirs[0] || (try? HTTPHost(theirs[0])) == nil, "\(vector): \(ours)")
            }
        }
        #expect(counts.accepted > 700 && counts.strict < 20 && counts.differ < 100, "\(counts)")
    }

    @Test("The test of UTS 46 has the results that are expected, and its faults are refused")
    func unicode() throws {
        var accepted = 0
        for vector in try HostVector.all(in: "unicode.txt") {
            let ours = ascii(vector.name) ?? "!"
            if ours != "!" { accepted += 1 }
            if vector.verdicts[0] == "!" {
                #expect(ours == "!" || vector.isLeftToHosts, "\(vector): \(ours)")
            } else if vector.isAmbiguous || (try? HTTPHost(vector.verdicts[0])) == nil {
                #expect(ours == "!", "\(vector): \(ours)")
            } else {
                #expect(ours == vector.verdicts[0], "\(vector): \(ours)")
            }
        }
        #expect(accepted > 300, "\(accepted)")
    }

    @Test("Letters are lowered, widths are folded, invisible characters are left out, and ß stays")
    func mapped() {
        #expect(ascii("BÜCHER.example") == "xn--bcher-kva.example")
        #expect(ascii("ｂｕ\u{308}cher.Example") == "xn--bcher-kva.example")
        #expect(ascii("exam\u{AD}ple.com") == "example.com")
        #expect(ascii("faß.example") == "xn--fa-hia.example")
        #expect(ascii("βόλος.example") == "xn--nxasmm1c.example")
        #expect(ascii("q\u{323}\u{307}.example") == ascii("q\u{307}\u{323}.example"))
        #expect(ascii("각.example") == ascii("\u{1100}\u{1161}\u{11A8}.example"))
        #expect(ascii("☃.example") == "xn--n3h.example")
    }

    @Test("A host in ASCII is what its parser says, unless its A-labels stand for nothing")
    func inASCII() {
        #expect(
            ascii("r3---sn-ab.Example") == "r3---sn-ab.example" && ascii("_a.b-.example") == "_a.b-.example"
        )
        #expect(ascii("192.0.2.1") == "192.0.2.1" && ascii("[2001:db8::1]") == "2001:db8::1")
        #expect(ascii("XN--Bcher-KVA.example") == "xn--bcher-kva.example")
        #expect(result(of: "127.1") == .failure(.host(.looksNumeric)))
        #expect(result(of: "") == .failure(.host(.missing)))
        for name in [
            "xn--", "xn--a", "xn--abc-", "xn--bcher-kvb", "xn--zzzzzzzzzzzz", "xn--fiq@", "xn--BCHER-kva-",
        ] {
            #expect(throws: InternationalHostError.self) { try HTTPHost(international: name + ".example") }
        }
        // They stand for a capital letter, a label with another spelling, a text not in normal form, an
        // ideographic dot, an underscore, a dot, a character that is left out; for hyphens in wrong places, a
        // mark at the start, a joiner.
        for name in [
            "wca", "-tda", "u-ccb", "tda091v", "a_-yka", "a.-yka", "tda7860k", "ab---3ra", "---eha", "u-bcb",
            "tda910n",
        ] {
            #expect(ascii("xn--" + name + ".example") == nil, "\(name)")
        }
    }

    @Test("What another program would take for another host is refused, each for its reason")
    func refused() {
        let reasons: [(String, InternationalHostError)] = [
            ("例子\u{3002}中国", .ambiguous("\u{3002}")), ("bücher\u{FF0E}example", .ambiguous("\u{FF0E}")),
            ("STRA\u{1E9E}E.example", .ambiguous("\u{1E9E}")), ("ü\u{2024}example", .disallowed("\u{2024}")),
            ("ü\u{2488}example", .disallowed("\u{2488}")),
            ("good.example\u{2100}.bü", .disallowed("\u{2100}")),
            ("good.example\u{FF0F}.bü", .disallowed("\u{FF0F}")), ("ü\u{FF1A}80", .disallowed("\u{FF1A}")),
            ("good\u{FF20}bü.example", .disallowed("\u{FF20}")), ("ü\u{FF05}2e", .disallowed("\u{FF05}")),
            ("a=\u{338}.example", .host(.invalidCharacter(0x3D))), ("ü%2f.example", .host(.percentEncoded)),
            ("bü:80", .host(.invalidCharacter(0x3A))), ("bü/x", .host(.invalidCharacter(0x2F))),
            ("\u{FF11}\u{FF12}7.0.0.1", .host(.looksNumeric)), ("bü.\u{FF10}x7f", .host(.looksNumeric)),
            ("bü..example", .host(.emptyLabel)), ("bü.\u{200B}", .host(.emptyLabel)),
            ("ü-.example", .hyphens), ("-ü.example", .hyphens), ("ab--ü.example", .hyphens),
            ("\u{308}u.example", .leadingMark), ("a\u{200D}ü.example", .joiner),
            ("ü\u{200C}.example", .joiner),
            ("ü_.example", .disallowed("_")), ("bü\u{202E}.example", .disallowed("\u{202E}")),
            ("אa.example", .direction), ("א☃.example", .direction), ("א.a☃", .direction),
            ("1א.example", .direction), ("א.1a.example", .direction),
            (String(repeating: "ü", count: 64) + ".example", .host(.labelTooLong)),
            (String(repeating: "ü", count: 60) + "一.example", .host(.labelTooLong)),
            (String(repeating: "ü", count: 5000), .host(.tooLong)),
            (String(repeating: "bü.", count: 80) + "example", .host(.tooLong)),
        ]
        for (name, reason) in reasons { #expect(result(of: name) == .failure(reason), "\(name)") }
    }

    @Test("Joiners are accepted where they join: after a virama, and between letters that join")
    func joiners() {
        #expect(ascii("क्\u{200D}ष.example") != nil && ascii("क्\u{200C}ष.example") != nil)
        #expect(ascii("نامه\u{200C}ای.example") == "xn--mgba3gch31f060k.example")
        #expect(ascii("د\u{200C}ب.example") == nil)
    }

    @Test("The host of a URL is converted in its place, and nothing else is")
    func urls() throws {
        let url = try HTTPURL(international: "https://me:p@bücher.example.:8443/fä?ü=ö#ä")
        #expect(url.text == "https://me:p@xn--bcher-kva.example.:8443/f%C3%A4?%C3%BC=%C3%B6#%C3%A4")
        #expect(url.host == .name(try DomainName("xn--bcher-kva.example")))
        for text in ["http://a.test/ü?u=http://ü.test/", "https://[2001:db8::1]/", "http://192.0.2.1:80/"] {
            #expect(try HTTPURL(international: text) == HTTPURL(text))
        }
        #expect(throws: HTTPURLError.host(.notASCII)) { try HTTPURL("https://bücher.example/") }
    }

    @Test("A URL that is read in two ways is refused with an international host as well")
    func badURLs() {
        let reasons: [(String, InternationalHostError)] = [
            ("https://good.example\\@bü.example/", .url(.backslash)),
            ("ftp://bü/", .url(.unsupportedScheme("ftp"))),
            ("https://a@b@bü.example/", .url(.severalAtSigns)), ("https:bü.example", .url(.missingAuthority)),
            ("//bü.example/", .url(.notHTTP)), ("bü.example", .url(.notHTTP)),
            (" https://bü/", .url(.surroundedBySpace)),
            ("https://bü.example:x/", .url(.invalidPort)), ("https://bü%2f.example/", .host(.percentEncoded)),
            ("https://b\tü.example/", .host(.invalidCharacter(9))),
            ("https://bü..example/", .host(.emptyLabel)),
            ("https://bü.example\u{FF0F}.evil.example/", .disallowed("\u{FF0F}")),
            ("https://\u{FF11}27.0.0.1/", .host(.looksNumeric)), ("https://bü..", .host(.emptyLabel)),
        ]
        for (text, reason) in reasons {
            #expect(throws: reason, "\(text)") { try HTTPURL(international: text) }
        }
    }

    @Test(
        "No text stops the program, and what is accepted is accepted again as it is",
        arguments: 0..<UInt64(4)
    )
    func drawnHere(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var accepted = 0
        for _ in 0..<5000 {
            var text = Bool.random(using: &random) ? "" : "xn--"
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                let range: ClosedRange<UInt32> =
                    switch UInt8.random(in: 0...7, using: &random) {
                    case 0...3: 0x2D...0x7A
                    case 4: 0x80...0x600
                    case 5: 0x600...0x3000
                    case 6: 0x3000...0xFFFF
                    default: 0...0x10FFFF
                    }
                if let character = Unicode.Scalar(UInt32.random(in: range, using: &random)) {
                    text.unicodeScalars.append(character)
                }
            }
            guard let host = ascii(text) else { continue }
            accepted += 1
            #expect(ascii(host) == host, "\(text)")
            #expect((try? HTTPURL(international: "http://\(host)/"))?.host.description == host)
        }
        #expect(accepted > 100)
    }

    @Test("No message repeats the host")
    func messages() {
        for name in [
            "secretü%", "secret\u{202E}", "secret\u{3002}ü", "xn--secret", "secret-ü-", "1א.secret",
            "http://secretü",
        ] {
            #expect(throws: InternationalHostError.self) { try HTTPHost(international: name) }
            if case .failure(let error) = result(of: name) { #expect(!error.description.contains("secret")) }
        }
        #expect(InternationalHostError.disallowed("\u{202E}").description.contains("U+202E"))
    }
}

extension HostVector {
    /// Whether the faults are in labels of ASCII alone, which are left to the parser of hosts: hyphens.
    fileprivate var isLeftToHosts: Bool {
        Set(verdicts[1].split(separator: ", ")).isSubset(of: ["V2", "V3"])
            && name.split(separator: ".").allSatisfy { label in
                label.utf8.allSatisfy { $0 < 0x80 } || !label.hasPrefix("-") && !label.hasSuffix("-")
            }
    }
}
