@testable import DirectCore
import DirectIO
import Testing

@Suite("Public suffixes")
struct PublicSuffixTests {
    /// The public test data of publicsuffix.org, for the rules that it names.
    static let examples: [(name: String, registrable: String?)] = [
        ("com", nil),
        ("example.com", "example.com"),
        ("b.example.com", "example.com"),
        ("a.b.example.com", "example.com"),
        // Without a rule, the last label is a suffix.
        ("example", nil),
        ("example.example", "example.example"),
        ("a.b.example.example", "example.example"),
        ("biz", nil),
        ("domain.biz", "domain.biz"),
        ("uk.com", nil),
        ("example.uk.com", "example.uk.com"),
        ("test.ac", "test.ac"),
        // A rule for all below, and none for the name itself.
        ("mm", nil),
        ("c.mm", nil),
        ("b.c.mm", "b.c.mm"),
        ("a.b.c.mm", "b.c.mm"),
        ("jp", nil),
        ("test.jp", "test.jp"),
        ("ac.jp", nil),
        ("test.ac.jp", "test.ac.jp"),
        ("kyoto.jp", nil),
        ("ide.kyoto.jp", nil),
        ("b.ide.kyoto.jp", "b.ide.kyoto.jp"),
        ("a.b.ide.kyoto.jp", "b.ide.kyoto.jp"),
        ("c.kobe.jp", nil),
        ("b.c.kobe.jp", "b.c.kobe.jp"),
        ("city.kobe.jp", "city.kobe.jp"),
        ("www.city.kobe.jp", "city.kobe.jp"),
        ("ck", nil),
        ("test.ck", nil),
        ("b.test.ck", "b.test.ck"),
        ("www.ck", "www.ck"),
        ("www.www.ck", "www.ck"),
        ("us", nil),
        ("ak.us", nil),
        ("test.ak.us", "test.ak.us"),
        ("k12.ak.us", nil),
        ("test.k12.ak.us", "test.k12.ak.us"),
        // Names beyond ASCII.
        ("xn--85x722f.com.cn", "xn--85x722f.com.cn"),
        ("xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("xn--55qx5d.cn", nil),
        ("shishi.xn--fiqs8s", "shishi.xn--fiqs8s"),
        ("xn--fiqs8s", nil),
        // The private section.
        ("github.io", nil),
        ("direct.github.io", "direct.github.io"),
        ("blogspot.com", nil),
        ("co.uk", nil),
        ("www.example.co.uk", "example.co.uk"),
        ("localhost", nil),
    ]

    @Test("The registrable domain is the public suffix and one more label", arguments: examples)
    func registrable(name: String, registrable: String?) throws {
        let name = try DomainName(name)
        #expect(name.registrableDomain?.text == registrable)
        #expect(name.isPublicSuffix == (registrable == nil))
    }

    @Test("A suffix reports whether its rule is in the private section")
    func sections() throws {
        #expect(try !suffix(of: DomainName("example.co.uk")).isPrivate)
        #expect(try suffix(of: DomainName("example.github.io")).isPrivate)
        #expect(try !suffix(of: DomainName("example.nonsense")).isPrivate)
    }

    /// Each rule of the list that the rules were compiled from is checked (`DIRECT_HTTP_SUFFIXES=LIST`).
    @Test("The compiled rules give the same results as the list", .enabled(if: SuffixList.compiled != nil))
    func wholeList() async throws {
        let list = try #require(SuffixList.compiled)
        for rule in list.rules {
            await Task.yield()
            let name = rule.drop { "!*.".contains($0) }
            for asked: String in ["\(name)", "x.\(name)", "y.x.\(name)", "z\(name)"] {
                guard let domain = try? DomainName(asked) else { continue }
                let start = suffix(of: domain).start
                let expected = list.suffix(of: asked)
                #expect(domain.text.utf8.dropFirst(start).elementsEqual(expected.utf8), "\(asked)")
            }
        }
    }
}

private func suffix(of name: DomainName) -> PublicSuffix {
    let bytes = name.bytes
    return PublicSuffix(of: bytes.span)
}

/// The list itself, searched in the way that its authors describe it.
private struct SuffixList {
    let rules: [String]
    private let lookup: Set<String>

    static let compiled = SuffixList(
        environmentValue("DIRECT_HTTP_SUFFIXES") ?? "/usr/share/publicsuffix/public_suffix_list.dat"
    )

    /// `nil` where there is no list, or one of another age.
    init?(_ path: String) {
        guard let bytes = try? StateFile.read(path, limit: 1 << 22) else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        guard lines.contains("// VERSION: " + PublicSuffix.version) else { return nil }
        // A-labels are for another test.
        rules = lines.filter { !$0.hasPrefix("//") && $0.utf8.allSatisfy { $0 < 0x80 } }.compactMap {
            $0.split(separator: " ").first.map(String.init)
        }
        lookup = Set(rules)
    }

    func suffix(of name: String) -> String {
        let labels = name.split(separator: ".").map(String.init)
        var best = labels.suffix(1)
        for count in 1...labels.count {
            let tail = labels.suffix(count)
            let text = tail.joined(separator: ".")
            if lookup.contains("!" + text) { return tail.dropFirst().joined(separator: ".") }
            let wildcard = "*." + tail.dropFirst().joined(separator: ".")
            if lookup.contains(text) || lookup.contains(wildcard) { best = tail }
        }
        return best.joined(separator: ".")
    }
}
