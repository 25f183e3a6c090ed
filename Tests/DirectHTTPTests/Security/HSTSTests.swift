@testable import DirectCore
import DirectHTTP1
import DirectIO
@testable import DirectTransport
import Testing

@testable import DirectHTTP

@Suite("HSTS")
struct HSTSTests {
    private let time = UnixTime(seconds: 1_800_000_000)

    private func learn(_ store: HSTSStore, _ host: String, _ fields: String..., at now: UnixTime? = nil)
        throws
    {
        let headers = HTTPHeaders(fields.map { (name: "Strict-Transport-Security", value: $0) })
        store.learn(from: headers, host: try HTTPHost(host), at: now ?? time)
    }

    private func upgraded(_ store: HSTSStore, _ url: String, at now: UnixTime? = nil) throws -> String? {
        store.upgrades(try HTTPURL(url), at: now ?? time)?.text
    }

    static let fields: [(field: String, policy: (age: Int64, subdomains: Bool)?)] = [
        ("max-age=31536000", (31_536_000, false)),
        ("max-age=\"31536000\"", (31_536_000, false)),
        ("MAX-AGE=1; INCLUDESUBDOMAINS", (1, true)),
        ("includeSubDomains;max-age=0", (0, true)),
        ("max-age = 1 ; includeSubDomains", (1, true)),
        (";; max-age=1 ;; ", (1, false)),
        ("max-age=1; preload", (1, false)),
        ("max-age=1; new=\"a;b\\\"\"; other=x", (1, false)),
        ("max-age=99999999999999999999", (.max, false)),
        ("", nil),
        ("includeSubDomains", nil),
        ("max-age", nil),
        ("max-age=", nil),
        ("max-age=-1", nil),
        ("max-age=1.5", nil),
        ("max-age=\"1", nil),
        ("max-age=1 2", nil),
        ("max-age=1; max-age=1", nil),
        ("max-age=1; Preload; preload", nil),
        ("max-age=1; includeSubDomains=1", nil),
        ("max-age=1; includeSubDomains; includesubdomains", nil),
        ("max-age=1, includeSubDomains", nil),
        ("max-age=1; =x", nil),
        ("max-age=1; b\u{E4}d", nil),
        ("max-age=0x10", nil),
    ]

    @Test("The field is read by its grammar, or not at all (RFC 6797, section 6.1)", arguments: fields)
    func grammar(field: String, policy: (age: Int64, subdomains: Bool)?) {
        let read = HSTSPolicy(Array(field.utf8))
        #expect(read?.maximumAge == policy?.age)
        #expect(read?.includesSubdomains == policy?.subdomains)
    }

    @Test("Port 80 becomes 443, and another port and the rest are unchanged (section 8.3)")
    func upgrading() throws {
        let store = HSTSStore()
        try learn(store, "a.test", "max-age=10")
        #expect(try upgraded(store, "http://a.test") == "https://a.test/")
        #expect(try upgraded(store, "http://a.test:80/x") == "https://a.test/x")
        #expect(try upgraded(store, "http://a.test:8080/x") == "https://a.test:8080/x")
        #expect(try upgraded(store, "http://a.test:443/") == "https://a.test/")
        #expect(try upgraded(store, "http://u:p@a.test/p?q#f") == "https://u:p@a.test/p?q#f")
        #expect(try upgraded(store, "https://a.test/") == nil)
        #expect(try upgraded(store, "http://b.a.test/") == nil)
        #expect(try upgraded(store, "http://test/") == nil)
    }

    @Test("A URL that becomes too long to be parsed again is upgraded like any other")
    func longURL() throws {
        let store = HSTSStore()
        try learn(store, "a.test", "max-age=10")
        let long = try HTTPURL("http://u:p@a.test.:8080/" + String(repeating: "\"", count: 22_000) + "?q#f")
        #expect(throws: HTTPURLError.self) { try HTTPURL(long.text) }
        let upgraded = store.upgrades(long, at: time)
        #expect(upgraded?.text == "https" + long.text.dropFirst(4))
        #expect(upgraded?.authorityBytes == Array("a.test:8080".utf8))
        #expect(upgraded?.origin == Origin(scheme: .https, host: long.host, port: 8080))
    }

    @Test("Subdomains are included only on demand, and label by label (section 8.2)")
    func subdomains() throws {
        let store = HSTSStore()
        try learn(store, "a.test", "max-age=10; includeSubDomains")
        #expect(try upgraded(store, "http://x.y.a.test/") == "https://x.y.a.test/")
        #expect(try upgraded(store, "http://evila.test/") == nil)
    }

    @Test("Addresses are neither stored nor upgraded (section 8.1.1)")
    func addresses() throws {
        let store = HSTSStore()
        try learn(store, "192.0.2.1", "max-age=10")
        try learn(store, "::1", "max-age=10")
        #expect(store.entries(at: time).isEmpty)
        #expect(try upgraded(store, "http://192.0.2.1/") == nil)
    }

    @Test("Only the first field counts (section 8.1)")
    func firstField() throws {
        let store = HSTSStore()
        try learn(store, "a.test", "nonsense;;=", "max-age=10")
        #expect(store.entries(at: time).isEmpty)
        try learn(store, "a.test", "max-age=10", "max-age=0")
        #expect(store.entries(at: time).count == 1)
    }

    @Test("An entry ends after its time, counted from the last response, or with max-age=0")
    func end() throws {
        let store = HSTSStore()
        try learn(store, "a.test", "max-age=10")
        #expect(try upgraded(store, "http://a.test/", at: time.advanced(bySeconds: 9)) != nil)
        #expect(try upgraded(store, "http://a.test/", at: time.advanced(bySeconds: 10)) == nil)
        try learn(store, "a.test", "max-age=10", at: time.advanced(bySeconds: 5))
        #expect(try upgraded(store, "http://a.test/", at: time.advanced(bySeconds: 14)) != nil)
        try learn(store, "a.test", "max-age=0")
        #expect(try upgraded(store, "http://a.test/") == nil)
    }

    @Test(
        "CVE-2022-30115: a trailing dot does not bypass HSTS",
        arguments: ["http://a.test./", "http://A.TEST./", "http://x.a.test./"]
    )
    func trailingDot(url: String) throws {
        let store = HSTSStore()
        try learn(store, "a.test", "max-age=10; includeSubDomains")
        #expect(try upgraded(store, url)?.hasPrefix("https://") == true)
    }

    @Test("CVE-2022-42916, CVE-2022-43551: hosts with letters that IDNA maps to ASCII are refused")
    func foldedDots() {
        #expect(throws: HTTPURLError.self) { try HTTPURL("http://a\u{3002}test/") }
        #expect(throws: HTTPURLError.self) { try HTTPURL("http://\u{FF41}.test/") }
    }

    @Test("CVE-2024-9681: a subdomain does not change the entry of its parent")
    func subdomainExpiry() throws {
        let store = HSTSStore()
        try learn(store, "a.test", "max-age=1000; includeSubDomains")
        try learn(store, "x.a.test", "max-age=1")
        try learn(store, "y.a.test", "max-age=0")
        let later = time.advanced(bySeconds: 500)
        for name in ["a.test", "x.a.test", "y.a.test"] {
            #expect(try upgraded(store, "http://\(name)/", at: later) != nil)
        }
    }

    @Test("CVE-2023-23914, CVE-2023-23915: entries of several concurrent clients are all stored")
    func parallel() async throws {
        let store = HSTSStore()
        await withTaskGroup { group in
            for task in 0..<4 {
                group.addTask {
                    for index in 0..<100 { try? learn(store, "n\(index).t\(task).test", "max-age=10") }
                }
            }
        }
        #expect(store.entries(at: time).count == 400)
    }

    @Test("The number of entries is limited, and the most recent ones stay")
    func limit() throws {
        let store = HSTSStore(limit: 3)
        for name in ["a", "b", "c"] { try learn(store, "\(name).test", "max-age=10") }
        try learn(store, "a.test", "max-age=10")
        try learn(store, "d.test", "max-age=10")
        #expect(store.entries(at: time).map(\.name.text) == ["a.test", "c.test", "d.test"])
    }

    @Test("A store whose entries are all removed upgrades nothing, and learns again")
    func removingAll() throws {
        let store = HSTSStore()
        try learn(store, "a.test", "max-age=60; includeSubDomains")
        store.removeAll()
        #expect(try upgraded(store, "http://b.a.test/") == nil && store.entries.isEmpty)
        try learn(store, "a.test", "max-age=60")
        #expect(try upgraded(store, "http://a.test/") == "https://a.test/")
    }

    @Test("A file restores its entries, and never weakens existing ones")
    func files() async throws {
        let store = HSTSStore()
        let end = UnixTime(seconds: 4_000_000_000)
        store.add(.init(try DomainName("a.test"), until: end, includesSubdomains: true))
        store.add(.init(try DomainName("b.test"), until: UnixTime(seconds: .max)))
        let text = String(decoding: store.text, as: UTF8.self)
        #expect(text.hasSuffix("\n.a.test \"20961002 07:06:40\"\nb.test \"unlimited\"\n"))
        let copy = HSTSStore()
        copy.add(.init(try DomainName("a.test"), until: end.advanced(bySeconds: 1), includesSubdomains: true))
        #expect(copy.add(content: store.text) == [])
        #expect(copy.entries.map(\.expiry) == [end.advanced(bySeconds: 1), UnixTime(seconds: .max)])
        let folder = try TemporaryFolder()
        let path = folder.path + "/hsts"
        try await store.save(to: path)
        let third = HSTSStore()
        #expect(try await third.load(from: path) == [])
        #expect(third.entries == store.entries)
    }

    private func add(_ lines: [String], to store: HSTSStore) {
        #expect(store.add(content: Array(lines.joined(separator: "\n").utf8), at: time) == [])
    }

    @Test("Loading takes from no name, and from no name below it, the time that it has already")
    func mergedFiles() throws {
        let end = time.advanced(bySeconds: 1000)
        let (early, late) = (".a.test \"20960101 00:00:00\"", "a.test \"20970101 00:00:00\"")
        let (earlyEnd, lateEnd) = (UnixTime(seconds: 3_976_214_400), UnixTime(seconds: 4_007_836_800))
        func check(_ store: HSTSStore) throws {
            for (url, end) in [("http://x.a.test/", earlyEnd), ("http://a.test/", lateEnd)] {
                #expect(try upgraded(store, url, at: end.advanced(bySeconds: -1)) != nil)
                #expect(try upgraded(store, url, at: end) == nil)
            }
        }
        for lines in [[early, late], [late, early]] {
            let (store, both, copy) = (HSTSStore(), HSTSStore(), HSTSStore())
            for line in lines { add([line], to: store) }
            add(lines, to: both)
            for store in [store, both] { try check(store) }
            // A file keeps the two times apart.
            #expect(copy.add(content: store.text, at: time) == [])
            #expect(copy.entries == store.entries && copy.text == store.text)
            try check(copy)
        }
        // The host's own word is newer than a file (section 8.1), and what has ended does not count.
        let store = HSTSStore()
        add([early, late], to: store)
        try learn(store, "a.test", "max-age=1000")
        #expect(store.entries(at: time) == [.init(try DomainName("a.test"), until: end)])
        try learn(store, "a.test", "max-age=10; includeSubDomains")
        #expect(store.add(content: Array(late.utf8), at: time.advanced(bySeconds: 10)) == [])
        #expect(try upgraded(store, "http://x.a.test/", at: time.advanced(bySeconds: 10)) == nil)
    }

    @Test("A broken line of a file is skipped")
    func brokenFile() {
        let text = """
            # a comment
            a.test "20990101 00:00:00"
            b.test
            b.test 20990101 00:00:00
            b.test "20991301 00:00:00"
            b.test "2099-01-01 00:00:00"
            b_ .test "20990101 00:00:00"
            192.0.2.1 "20990101 00:00:00"
            .c.test "20990101 00:00:00"\r
            d.test "20000101 00:00:00"
            """
        let store = HSTSStore()
        #expect(
            store.add(content: Array(text.utf8) + [0xFF, 0x0A, 0x00]).map(\.line) == [
                3, 4, 5, 6, 7, 8, 10, 11,
            ]
        )
        #expect(store.entries.map(\.name.text) == ["a.test", "c.test"])
    }
}
