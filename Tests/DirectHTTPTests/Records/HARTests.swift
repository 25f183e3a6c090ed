import DirectCore
import DirectTestCommands
import DirectTestData
import DirectTestTime
import Foundation
import TLSFixtures
import Testing

@testable import DirectHTTP
@testable import DirectHTTPRecords

@Suite("Recording and replaying HAR archives", .idleLimit)
struct HARTests {
    private let server: FixtureServer

    init() throws {
        server = try FixtureServer.start { request in
            let body = try request.text
            switch request.path {
            case "/from": return .redirect(to: "/to?key=hush1")
            case "/moved":
                // Its length is announced, so that the client gives it up without reading any of it.
                return .bytes([UInt8](repeating: 1, count: 100_000), status: 302, ["Location": "/p"])
            case "/odd": return .bytes([7, 8, 9], ["Content-Encoding": "odd"])
            case "/damaged": return .bytes([7, 8, 9], ["Content-Encoding": "gzip"])
            case "/gzip":
                return .bytes(deflated(Array("plain text".utf8)), ["Content-Encoding": "gzip"])
            case "/binary": return .bytes([0, 255, 10])
            case "/large": return .pattern(count: 300_000)
            case "/broken": return .raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", then: .close)
            case "/closed": return .raw("", then: .close)
            default: return .text("\(request.method) \(body)", ["Set-Cookie": "id=hush2", "X-A": "1"])
            }
        }
    }

    private func client(
        _ recorder: HARRecorder,
        _ configure: (inout HTTPClient.Configuration) -> Void = { _ in }
    )
        -> HTTPClient
    {
        HTTPClient.untimed {
            $0.networkInterceptors = [recorder.interceptor]
            $0.cookies = CookieJar()
            configure(&$0)
        }
    }

    /// The archive's entries, as Foundation reads them.
    private func entries(_ recorder: HARRecorder) throws -> [[String: Any]] {
        let root = try JSONSerialization.jsonObject(with: Data(recorder.archive.utf8)) as? [String: Any]
        let log = try #require(root?["log"] as? [String: Any])
        #expect(log["version"] as? String == "1.2" && (log["creator"] as? [String: Any])?["name"] != nil)
        return try #require(log["entries"] as? [[String: Any]])
    }

    @Test("An archive has all that HAR 1.2 requires of each request on the network, redirects included")
    func required() async throws {
        var redaction = Redaction()
        redaction.items = []
        let recorder = HARRecorder(redacting: redaction)
        let client = client(recorder)
        _ = try await client.get(server.http("/from?a=b%20c"))
        _ = try await client.post(server.http("/p"), .form(["x": "1"]))
        let entries = try entries(recorder)
        #expect(entries.count == 3)
        for entry in entries {
            for name in ["startedDateTime", "time", "request", "response", "cache", "timings"] {
                #expect(entry[name] != nil, "\(name)")
            }
            let request = try #require(entry["request"] as? [String: Any])
            for name in [
                "method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize",
                "bodySize",
            ] {
                #expect(request[name] != nil, "request.\(name)")
            }
            let response = try #require(entry["response"] as? [String: Any])
            for name in [
                "status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL",
                "headersSize",
                "bodySize",
            ] {
                #expect(response[name] != nil, "response.\(name)")
            }
            let timings = try #require(entry["timings"] as? [String: Double])
            let parts = ["blocked", "dns", "connect", "send", "wait", "receive"].map {
                max(0, timings[$0] ?? -1)
            }
            let total = try #require(entry["time"] as? Double)
            #expect(abs(parts.reduce(0, +) - total) < 5 && timings.values.allSatisfy { $0 >= -1 })
            #expect(entry["serverIPAddress"] as? String == "127.0.0.1")
            let date = try #require(entry["startedDateTime"] as? String)
            let formatter = ISO8601DateFormatter()
            formatter.formatOptions.insert(.withFractionalSeconds)
            let started = try #require(formatter.date(from: date))
            #expect(abs(started.timeIntervalSinceNow) < 600)
        }
        let first = try #require(entries[0]["request"] as? [String: Any])
        #expect(first["queryString"] as? [[String: String]] == [["name": "a", "value": "b c"]])
        #expect((entries[0]["response"] as? [String: Any])?["redirectURL"] as? String == "/to?key=hush1")
        let posted = (entries[2]["request"] as? [String: Any])?["postData"] as? [String: Any]
        #expect(posted?["text"] as? String == "x=1")
        #expect(posted?["mimeType"] as? String == "application/x-www-form-urlencoded")
    }

    @Test("Secrets are hidden in every place of an archive unless the caller asks for them")
    func secrets() async throws {
        var redaction = Redaction()
        redaction.items = ["key"]
        for (redaction, shows) in [(redaction, false), (Redaction(), false), (.insecureNone, true)] {
            let recorder = HARRecorder(redacting: redaction)
            let client = client(recorder)
            var request = Request(.get, server.http("/from?key=hush3"))
            request.authenticator = .basic(user: "user", password: "hush4")
            _ = try await client.fetch(request)
            _ = try await client.post(server.http("/binary"), .form(["key": "hush5"]))
            let archive = recorder.archive
            #expect(archive.contains("hush") == shows && archive.contains("***") == !shows)
            // "user:hush4" in base64
            #expect(archive.contains("dXNlcjpodXNoNA==") == shows)
            for number in [1, 2, 3, 5] { #expect(archive.contains("hush\(number)") == shows, "\(number)") }
        }
        var hiding = Redaction()
        hiding.hidesBodies = true
        let recorder = HARRecorder(redacting: hiding)
        #expect(try await client(recorder).post(server.http("/p"), .text("hush6")).text == "POST hush6")
        #expect(!recorder.archive.contains("hush6"))
    }

    @Test("What was recorded is replayed: coded, binary, redirected, with cookies, and by body")
    func replay() async throws {
        let recorder = HARRecorder()
        func play(_ client: HTTPClient) async throws -> [String] {
            var all: [String] = []
            for path in ["/from", "/gzip", "/binary", "/one", "/one"] {
                let response = try await client.get(server.http(path))
                all.append("\(response.status) \(response.body) \(response.headers["X-A"] ?? "")")
            }
            for body in ["a", "b"] {
                all.append(try await client.put(server.http("/"), .text(body)).text ?? "")
            }
            all.append(
                try await client.put(server.http("/"), .bytes([0, 200], contentType: "x/y")).body.description
            )
            return all
        }
        let recorded = try await play(client(recorder))
        let count = server.requests.count
        let replay = try HARReplay(recorder.archive)
        let client = HTTPClient.untimed { $0.transport = replay.transport }
        #expect(try await play(client) == recorded && server.requests.count == count)
        #expect(replay.unusedCount == 0)
        await #expect(throws: HARError.self) { try await client.get(server.http("/one")) }
        let again = try HARReplay("\u{FEFF}" + recorder.archive)
        let second = HTTPClient.untimed { $0.transport = again.transport }
        #expect(try await second.put(server.http("/"), .text("b")).text == "PUT b")
        await #expect(throws: HARError.self) { try await second.put(server.http("/"), .text("c")) }
        await #expect(throws: HARError.self) { try await second.get(server.http("/other")) }
    }

    @Test("A request with hidden items is found in the archive, and hidden fields are not replayed")
    func redactedReplay() async throws {
        var redaction = Redaction()
        redaction.items = ["key"]
        let recorder = HARRecorder(redacting: redaction)
        _ = try await client(recorder).get(server.http("/p?key=hush"))
        let replay = try HARReplay(recorder.archive, redacting: redaction)
        let response = try await HTTPClient.untimed { $0.transport = replay.transport }
            .get(server.http("/p?key=other"))
        #expect(response.text == "GET " && response.headers["X-A"] == "1")
        #expect(!response.headers.contains("Set-Cookie"))
    }

    @Test("In an archive that hides nothing, a field of three asterisks is a field")
    func asterisks() async throws {
        let server = try FixtureServer.start { _ in .text("ok", ["X-Stars": "***"]) }
        let recorder = HARRecorder(redacting: .insecureNone)
        _ = try await client(recorder).get(server.http())
        let replay = try HARReplay(recorder.archive, redacting: .insecureNone)
        let response = try await HTTPClient.untimed { $0.transport = replay.transport }.get(server.http())
        #expect(response.headers["X-Stars"] == "***")
    }

    @Test("An archive hides all values of queries and forms, and a replay answers by their names, in order")
    func hiddenItems() async throws {
        let recorder = HARRecorder()
        func play(_ client: HTTPClient) async throws -> [String?] {
            [
                try await client.get(server.http("/p?page=41&&flag")).text,
                try await client.get(server.http("/p?page=42&&flag")).text,
                try await client.post(server.http("/p"), .form(["name": "43"])).text,
            ]
        }
        let recorded = try await play(client(recorder))
        let requests = try entries(recorder).compactMap { $0["request"] as? [String: Any] }
        #expect(requests.first?["url"] as? String == server.http("/p?page=***&&***"))
        #expect((requests.last?["postData"] as? [String: Any])?["text"] as? String == "name=***")
        let replay = try HARReplay(recorder.archive)
        #expect(try await play(HTTPClient.untimed { $0.transport = replay.transport }) == recorded)
    }

    @Test("An archive that hides nothing is replayed by the values of queries and forms")
    func archiveOfBrowser() async throws {
        func entry(_ url: String, _ form: String, _ answer: String) -> String {
            """
            {"request":{"method":"POST","url":"\(url)","postData":{"text":"\(form)"}},
            "response":{"status":200,"content":{"size":1,"text":"\(answer)"}}}
            """
        }
        let url = "http://a.test/?page="
        let entries = [
            entry(url + "1", "a=1", "x"), entry(url + "2", "a=1", "y"), entry(url + "2", "a=2", "z"),
        ]
        let replay = try HARReplay(#"{"log":{"entries":[\#(entries.joined(separator: ","))]}}"#)
        let client = HTTPClient.untimed { $0.transport = replay.transport }
        #expect(try await client.post(url + "2", .form(["a": "2"])).text == "z")
        #expect(try await client.post(url + "2", .form(["a": "1"])).text == "y")
        await #expect(throws: HARError.self) { try await client.post(url + "3", .form(["a": "1"])) }
        #expect(try await client.post(url + "1", .form(["a": "1"])).text == "x")
    }

    @Test(
        "Bodies that are too large, given up or broken off are recorded as such, and are not replayed as whole"
    )
    func incomplete() async throws {
        let recorder = HARRecorder(maximumBody: 100_000)
        let client = client(recorder)
        #expect(try await client.get(server.http("/large")).body.count == 300_000)
        _ = try await client.send(Request(.get, server.http("/large")))
        _ = try await httpError { try await client.get(server.http("/broken")) }
        _ = try await httpError { try await client.get(server.http("/closed")) }
        let entries = try entries(recorder)
        #expect(entries.count == 4 && recorder.archive.utf8.count < 10_000)
        #expect(entries[2]["_error"] != nil && entries[3]["_error"] != nil)
        let replay = try HARReplay(recorder.archive)
        let replaying = HTTPClient.untimed { $0.transport = replay.transport }
        for path in ["/large", "/large", "/broken", "/closed"] {
            let error = await #expect(throws: HARError.self) { try await replaying.get(server.http(path)) }
            switch error {
            case .contentNotRecorded, .failedWhenRecorded: break
            default: Issue.record("\(path): \(String(describing: error))")
            }
        }
    }

    @Test("A body that is read piece by piece is recorded, up to the place where it fails or is given up")
    func pieces() async throws {
        let recorder = HARRecorder()
        let client = client(recorder)
        var whole: [UInt8] = []
        let body = try await client.send(Request(.get, server.http("/large"))).body
        for try await piece in body { whole += piece }
        #expect(whole.count == 300_000 && body.trailers.isEmpty)
        let again = try await httpError { try await body.collect(upTo: 1) }
        guard case .bodyAlreadyRead = again.reason else { throw again }
        for try await _ in try await client.send(Request(.get, server.http("/large"))).body { break }
        _ = try await httpError {
            for try await _ in try await client.send(Request(.get, server.http("/broken"))).body {}
        }
        let entries = try entries(recorder)
        let contents = entries.map { ($0["response"] as? [String: Any])?["content"] as? [String: Any] }
        #expect(contents.map { $0?["_isComplete"] as? Bool } == [nil, false, false])
        #expect(contents[0]?["size"] as? Int == 300_000 && contents[1]?["text"] == nil)
        #expect(entries.map { $0["_error"] != nil } == [false, false, true])
        let replay = try HARReplay(recorder.archive)
        let replaying = HTTPClient.untimed { $0.transport = replay.transport }
        #expect(try await replaying.get(server.http("/large")).body == whole)
    }

    @Test("A recorded body has its length, so that a file is written with progress and a limit holds at once")
    func length() async throws {
        let folder = try TemporaryFolder()
        let totals = Heard<UInt64>()
        let client = client(HARRecorder())
        let response = try await client.send(Request(.get, server.http("/large")))
        _ = try await response.body.write(to: folder.path + "/file") { totals.add($0.total ?? 0) }
        #expect(Set(totals.all) == [300_000])
    }

    @Test("A redirect whose body the client gave up is replayed as one, and its body fails if it is read")
    func discarded() async throws {
        let recorder = HARRecorder()
        let recorded = try await client(recorder).get(server.http("/moved"))
        let replay = try HARReplay(recorder.archive)
        let replaying = HTTPClient.untimed { $0.transport = replay.transport }
        let replayed = try await replaying.get(server.http("/moved"))
        #expect(replayed.text == recorded.text && replayed.history.map(\.status) == [302])
        let unread = try HARReplay(recorder.archive)
        let unmoved = HTTPClient.untimed {
            $0.transport = unread.transport
            $0.redirects = .deliver
        }
        let error = await #expect(throws: HARError.self) { try await unmoved.get(server.http("/moved")) }
        guard case .contentNotRecorded? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("A content that cannot be decoded is replayed as it came, with its coding")
    func coded() async throws {
        let recorder = HARRecorder()
        let recording = client(recorder)
        let odd = try await recording.get(server.http("/odd"))
        let fault = try await httpError { try await recording.get(server.http("/damaged")) }
        let replay = try HARReplay(recorder.archive)
        let replaying = HTTPClient.untimed { $0.transport = replay.transport }
        let replayed = try await replaying.get(server.http("/odd"))
        #expect(replayed.body == odd.body && replayed.headers["Content-Encoding"] == "odd")
        let again = try await httpError { try await replaying.get(server.http("/damaged")) }
        #expect("\(again.reason)" == "\(fault.reason)")
    }

    @Test("Recording changes nothing: pieces, trailers, reuse, cancellation and upgrades are as without it")
    func transparent() async throws {
        let recorder = HARRecorder()
        let client = client(recorder)
        _ = try await client.get(server.http("/p"))
        #expect(try await client.get(server.http("/p")).isReused)
        let mock = HTTPClient.untimed {
            $0.timeouts.read = .milliseconds(10)
            $0.loop = .shared
            $0.networkInterceptors = [recorder.interceptor]
            $0.transport = { try Response(to: $0, 200, steps: [.text("one"), .stall]) }
        }
        let error = try await httpError { try await mock.get("http://a.test/") }
        #expect(error.isTimeout && error.phase == .body)
        #expect(try entries(recorder).last?["_error"] != nil)
    }

    @Test("The number of entries is bounded, and they can be forgotten")
    func bounded() async throws {
        let recorder = HARRecorder(maximumEntries: 2)
        let client = client(recorder)
        for path in ["/1", "/2", "/3"] { _ = try await client.get(server.http(path)) }
        let urls = try entries(recorder).compactMap { ($0["request"] as? [String: Any])?["url"] as? String }
        #expect(urls == [server.http("/2"), server.http("/3")])
        recorder.removeAll()
        #expect(try entries(recorder).isEmpty)
    }

    @Test(
        "What is no archive is refused with its line",
        arguments: [
            "", "[]", "{}", #"{"log":{"entries":1}}"#, #"{"log":{"entries":[1]}}"#,
            #"{"log":{"entries":[{"request":{"method":"GET","url":"http://a/"},"response":{}}]}}"#,
            #"{"log":{"entries":[{"request":{"method":"GET","url":"http://a/"},"response":{"status":70000}}]}}"#,
            #"{"log":{"entries":[{"request":{"method":"GET","url":"http://a/"},"response":{"status":200,"content":{"text":"?","encoding":"base64"}}}]}}"#,
        ]
    )
    func invalid(_ text: String) throws {
        let error = #expect(throws: HARError.self) { try HARReplay(text) }
        guard case .invalid = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
