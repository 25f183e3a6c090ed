@testable import DirectCore
import DirectIO
import DirectTestCommands
@testable import DirectTransport
import Foundation
import Testing

@testable import DirectHTTP

@Suite("Files of cookies")
struct CookieFileTests {
    private let future = UnixTime.now.advanced(bySeconds: 1_000_000)

    private var samples: [Cookie] {
        get throws {
            [
                try Cookie("plain", "1", for: HTTPHost("a.test")),
                try Cookie(
                    "all",
                    "v=\"x\"",
                    for: HTTPHost("a.test"),
                    coversSubdomains: true,
                    path: "/p",
                    expiry: future
                ),
                try Cookie("secret", "", for: HTTPHost("www.b.test"), isSecure: true, isHTTPOnly: true),
                try Cookie("", "nameless", for: HTTPHost("192.0.2.1")),
                try Cookie("six", "6", for: HTTPHost("2001:db8::1")),
                try Cookie("\u{E9}", "\u{4E2D}\u{6587}\ttab", for: HTTPHost("a.test")),
            ]
        }
    }

    @Test("Both file formats restore what was stored", arguments: [CookieJar.FileFormat.netscape, .json])
    func roundTrip(format: CookieJar.FileFormat) throws {
        let jar = CookieJar()
        for cookie in try samples { jar.add(cookie) }
        let copy = CookieJar()
        #expect(copy.add(content: jar.text(as: format)) == [])
        #expect(copy.cookies == jar.cookies)
    }

    @Test("Of a file that is cut anywhere, no cookie is loaded that was not saved")
    func cuts() async throws {
        let folder = try TemporaryFolder.inMemory()
        let path = folder.path + "/cookies"
        for format in [CookieJar.FileFormat.netscape, .json] {
            let jar = CookieJar()
            for cookie in try samples where cookie.name != "\u{E9}" { jar.add(cookie) }
            let text = jar.text(as: format)
            for count in text.indices {
                try Data(text.prefix(count)).write(to: URL(filePath: path))
                chmod(path, 0o600)
                let copy = CookieJar()
                try await copy.load(from: path)
                #expect(copy.cookies.allSatisfy(jar.cookies.contains), "\(format) cut at \(count)")
            }
            try Data(text).write(to: URL(filePath: path))
            chmod(path, 0o600)
            let copy = CookieJar()
            #expect(try await copy.load(from: path) == [] && copy.cookies == jar.cookies)
        }
    }

    @Test("A file of nothing but lines that cannot be read takes no memory for each of them")
    func manyFaults() {
        let faults = CookieJar().add(content: [UInt8](repeating: UInt8(ascii: "\n"), count: 3000))
        #expect(faults == [])
        let text = Array(String(repeating: "x\n", count: 3000).utf8)
        #expect(CookieJar().add(content: text).map(\.line) == Array(1...1000))
    }

    @Test("Of more cookies in a file than the jar may have, those that the file has last stay")
    func manyCookies() throws {
        let line = { (number: Int) in "host\(number).test\tFALSE\t/\tFALSE\t4000000000\tname\t\(number)\n" }
        let jar = CookieJar()
        #expect(jar.add(content: Array((0..<10_000).map(line).joined().utf8)) == [])
        #expect(!jar.cookies.isEmpty && jar.cookies.last?.value == "9999")
    }

    @Test("JSON lines also keep SameSite, tabs in names and bytes that are not text")
    func jsonKeepsAll() throws {
        let jar = CookieJar()
        jar.add(try Cookie("a\tb", "1", for: HTTPHost("a.test"), sameSite: .lax))
        var content = CookieContent(name: [0xFF], value: [0xE4])
        content.sameSite = .unrestricted
        jar.add(try Cookie(content, for: HTTPHost("a.test"), coversSubdomains: false))
        let copy = CookieJar()
        #expect(copy.add(content: jar.text(as: .json)) == [])
        #expect(copy.cookies == jar.cookies)
        #expect(copy.add(content: jar.text(as: .netscape)) == [])
    }

    @Test("A Netscape file leaves out a cookie with a tab in its name or path: it would become another one")
    func netscapeTabs() throws {
        let jar = CookieJar()
        jar.add(try Cookie("a\tb", "1", for: HTTPHost("a.test")))
        jar.add(try Cookie("c", "2", for: HTTPHost("a.test"), path: "/d\te"))
        let copy = CookieJar()
        #expect(copy.add(content: jar.text(as: .netscape)) == [])
        #expect(copy.cookies == [])
    }

    @Test("A cookie file of curl is read")
    func curl() throws {
        let text = """
            # Netscape HTTP Cookie File
            # https://curl.se/docs/http-cookies.html

            .example.com\tTRUE\t/\tFALSE\t4000000000\tall\t1
            #HttpOnly_www.example.com\tFALSE\t/p\tTRUE\t0\tsecret\ta\tb\r
            www.example.com\tFALSE\t/\tFALSE\t0\tempty\t
            www.example.com\tFALSE\t/\tFALSE\t0\tshort
            example.com\tTRUE\t/\tFALSE\t1\texpired\t1
            .192.0.2.1\tTRUE\t/\tFALSE\t0\taddress\t1
            """
        let jar = CookieJar()
        #expect(jar.add(content: Array(text.utf8), at: testTime) == [])
        #expect(try jar.field("https://www.example.com/p") == "secret=a\tb; all=1; empty=; short=")
        #expect(try jar.field("https://192.0.2.1/") == "address=1")
        #expect(jar.cookies.first?.coversSubdomains == true)
        #expect(jar.cookies.first?.expiry == testTime.advanced(bySeconds: CookieContent.longestLife))
        #expect(jar.cookies.first { $0.name == "secret" }?.isHTTPOnly == true)
    }

    @Test("A broken line is skipped, and reported by its number")
    func brokenNetscape() {
        let text = """
            a.test\tFALSE\t/\tFALSE\t0\tgood\t1
            nonsense
            a.test\tPERHAPS\t/\tFALSE\t0\tn\tv
            a.test\tFALSE\t/\tFALSE\tsoon\tn\tv
            a.test\tFALSE\tpath\tFALSE\t0\tn\tv
            co.uk\tTRUE\t/\tFALSE\t0\tsuper\tcookie
            a test\tFALSE\t/\tFALSE\t0\tn\tv
            a.test\tFALSE\t/\tFALSE\t0\t__Host-n\tv
            a.test\tFALSE\t/\tFALSE\t0\tn\tv\u{0}
            192.0.2.\tTRUE\t/\tFALSE\t0\tn\tv
            a.test\tFALSE\t/\tFALSE\t0\tlast\t2
            a.test\tFALSE\t/\tFALSE\t0
            """
        let jar = CookieJar()
        let faults = jar.add(content: Array(text.utf8) + [0xFF, 0x0A, 0x80])
        #expect(faults.map(\.line) == [2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13])
        #expect(jar.cookies.map(\.name) == ["good", "last"])
        #expect(faults.first?.description == "line 2: there are 1 fields, not 7")
    }

    @Test("A broken JSON line is skipped")
    func brokenJSON() {
        let text = """
            {"format":"direct-http cookies","version":1}
            {"name":"good","value":"1","host":"a.test","new":[1,2]}
            {"name":"torn","value":"1","ho
            [1]
            {"name":"n","value":"1"}
            {"name":"n","value":7,"host":"a.test"}
            {"name":"n","value":[1,999],"host":"a.test"}
            {"name":"n","value":"1","host":"a.test","expiry":1.5}
            {"name":"n","value":"1","host":"a.test","secure":"yes"}
            {"name":"n","value":"1","host":"com","subdomains":true}
            {"format":"something else","version":1}
            {"name":"last","value":"2","host":"a.test","path":null}
            """
        let jar = CookieJar()
        #expect(jar.add(content: Array(text.utf8)).map(\.line) == Array(3...11))
        #expect(jar.cookies.map(\.name) == ["good", "last"])
    }

    @Test("Of a JSON file of another version no cookie is read: it may mean other things by the same words")
    func newerJSON() {
        let text = """
            {"format":"direct-http cookies","version":2}
            {"name":"sid","value":"1","host":"a.test","secureOnlyIn":"x"}
            """
        let jar = CookieJar()
        #expect(jar.add(content: Array(text.utf8)).map(\.line) == [1])
        #expect(jar.cookies.isEmpty)
    }

    @Test("Any bytes are read without a crash")
    func noise() async {
        var generator = SystemRandomNumberGenerator()
        let jar = CookieJar()
        for cookie in (try? samples) ?? [] { jar.add(cookie) }
        for format in [CookieJar.FileFormat.netscape, .json] {
            let good = jar.text(as: format)
            for _ in 0..<2_000 {
                await Task.yield()
                var text = good
                for _ in 0..<4 {
                    text[Int.random(in: text.indices, using: &generator)] = UInt8.random(
                        in: 0...255,
                        using: &generator
                    )
                }
                _ = CookieJar().add(
                    content: Array(text.prefix(Int.random(in: 0...text.count, using: &generator)))
                )
            }
        }
    }

    @Test("When many tasks save a jar, the file has the cookies of all of them in the end")
    func concurrentSaves() async throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "/cookies"
        for _ in 0..<50 {
            let jar = CookieJar()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        jar.add(try Cookie("c\(number)", "1", for: HTTPHost("a.test")))
                        try await jar.save(to: file)
                    }
                }
                try await group.waitForAll()
            }
            let copy = CookieJar()
            #expect(try await copy.load(from: file) == [])
            #expect(copy.cookies.count == 8)
        }
    }

    @Test("A task that was cancelled saves nothing, and its error says so")
    func cancelledSave() async throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "/cookies"
        let saving = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await CookieJar().save(to: file)
        }
        await #expect(throws: CancellationError.self) { try await saving.value }
        #expect(try StateFile.read(file, limit: 10) == nil)
    }

    @Test("A file is readable only by its owner, replaced as a whole, and never a link")
    func files() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/cookies"
        let jar = CookieJar()
        jar.add(try Cookie("a", "1", for: HTTPHost("a.test")))
        try await jar.save(to: path)
        let copy = CookieJar()
        #expect(try await copy.load(from: path) == [])
        #expect(copy.cookies == jar.cookies)
        try await jar.save(to: path, as: .json)
        #expect(try await copy.load(from: path) == [])
        #expect(copy.cookies == jar.cookies)
        #expect(try await copy.load(from: path + "-none") == [])
        await #expect(throws: SystemError.self) { try await jar.save(to: "/tmp/no/such/folder/cookies") }
        await #expect(throws: SystemError.self) { try await jar.load(from: "/tmp") }
    }
}
