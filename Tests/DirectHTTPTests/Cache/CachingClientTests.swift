import DirectHTTP
import DirectHTTP1
import DirectTestCommands
import DirectTestData
import Foundation
import TLSFixtures
import Testing

@Suite("A client with a cache", .idleLimit)
struct CachingClientTests {
    /// A server whose answers carry these fields, and their number as content.
    private func server(_ fields: FixtureHeaders, on address: String = "127.0.0.1") throws -> FixtureServer {
        let count = SerialNumbers()
        return try FixtureServer.secure("a.test", "b.test", on: address) { request in
            if request.headers["If-None-Match"] != nil { return .status(304) }
            return .text("\(count.next()) for \(request.host ?? "")", fields)
        }
    }

    private func client(_ cache: ResponseCache) -> HTTPClient { .trusting { $0.cache = cache } }

    @Test(
        "A cached response is used without the network, from memory and from a folder",
        arguments: Place.allCases
    )
    func hit(place: Place) async throws {
        let server = try server(["Cache-Control": "max-age=60", "ETag": "\"a\""])
        let folder = TemporaryFolder.planned()
        let cache = try place.cache(folder)
        let client = client(cache)
        let request = server.request(server.https("a.test"))
        let first = try await client.fetch(request)
        #expect(first.cacheUse == .miss && first.transaction != nil)
        let second = try await client.fetch(request)
        #expect(second.cacheUse == .hit && second.transaction == nil)
        #expect(second.body == first.body)
        // On a busy machine a second may have passed.
        #expect((0..<60).contains(second.headers["Age"].flatMap { Int($0) } ?? -1))
        #expect(server.requests.count == 1)
        #expect(cache.statistics == [.miss: 1, .hit: 1])
        #expect(cache.faults == [])
    }

    @Test("A body that may have been cut off is not stored because an interceptor has collected it")
    func collected() async throws {
        for framing in [FixtureReply.Framing.untilClose, .length, .chunked] {
            let server = try FixtureServer.start { _ in
                .bytes(Array("half".utf8), ["Cache-Control": "max-age=1000"], framing: framing)
            }
            let client = HTTPClient.untimed {
                $0.cache = .memory()
                $0.networkInterceptors = [
                    { request, forward in
                        let response = try await forward(request)
                        return response.replacing(body: try await response.body.collect(upTo: 100))
                    }
                ]
            }
            for _ in 0..<2 { #expect(try await client.get(server.http()).text == "half") }
            #expect(server.requests.count == (framing == .untilClose ? 2 : 1))
        }
    }

    @Test(
        "A response that a program makes whole is stored without a length, one of a stream over http is not"
    )
    func madeWhole() async throws {
        for isWhole in [true, false] {
            let client = HTTPClient.untimed {
                $0.cache = .memory()
                $0.transport = { request in
                    let (headers, text) = (["Cache-Control": "max-age=60"] as HTTPHeaders, "some")
                    if isWhole {
                        return try Response(to: request, 200, headers: headers, body: Array(text.utf8))
                    }
                    return try Response(to: request, 200, headers: headers, steps: [.text(text)])
                }
            }
            #expect(try await client.get("http://a.test/").cacheUse == .miss)
            let second = try await client.get("http://a.test/")
            #expect(second.cacheUse == (isWhole ? .hit : .miss) && second.text == "some")
        }
    }

    @Test("The cache obeys the client's own fields as it obeys those of a request")
    func clientsFields() async throws {
        let fields: [(HTTPHeaders, CacheUse, CacheUse)] = [
            (["Cache-Control": "no-store"], .bypassed, .bypassed),
            (["Cache-Control": "no-cache"], .miss, .miss),
            (["Pragma": "no-cache"], .miss, .miss), (["Cache-Control": "only-if-cached"], .miss, .miss),
            (["If-Match": "\"a\""], .bypassed, .bypassed), (["X-Other": "1"], .miss, .hit),
        ]
        let answer: HTTPHeaders = ["Cache-Control": "max-age=60", "Content-Length": "0"]
        for (headers, first, second) in fields {
            let (own, ofRequest) = (Locked(0), Locked(0))
            var uses: [[CacheUse?]] = []
            for (count, isOwn) in [(own, true), (ofRequest, false)] {
                let client = HTTPClient.untimed { settings in
                    settings.cache = .memory()
                    if isOwn { for field in headers { settings.headers[field.name] = field.value } }
                    settings.transport = { request in
                        count.withLock { $0 += 1 }
                        return try Response(to: request, 200, headers: answer)
                    }
                }
                let request = Request(.get, "http://a.test/", headers: isOwn ? [:] : headers)
                uses.append([])
                for _ in 0..<2 { uses[uses.count - 1].append(try await client.fetch(request).cacheUse) }
            }
            #expect(uses == [[first, second], [first, second]], "\(headers.map(\.value))")
            #expect(own.withLock { $0 } == ofRequest.withLock { $0 })
        }
    }

    @Test(
        "A slow older response does not take the place of a later one: by their dates, and without any",
        arguments: Place.allCases,
        [(1, false), (0, false), (nil, false), (0, true), (nil, true)] as [(Int64?, Bool)]
    )
    func slowOlder(place: Place, _ rules: (secondsBetween: Int64?, isVarying: Bool)) async throws {
        let folder = TemporaryFolder.planned()
        let (asked, mayEnd) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
        let (count, start) = (SerialNumbers(), UnixTime.now.advanced(bySeconds: -10))
        let cache = try place.cache(folder)
        let client = HTTPClient.untimed {
            $0.cache = cache
            $0.transport = { request in
                let number = count.next()
                if number == 1 {
                    asked.continuation.finish()
                    for await _ in mayEnd.stream {}
                }
                var fields: HTTPHeaders = ["Cache-Control": "max-age=60", "Content-Length": "1"]
                fields["Date"] = rules.secondsBetween.map {
                    HTTPDate.text(start.advanced(bySeconds: Int64(number) * $0))
                }
                // Then both are stored, and the later one is chosen.
                if rules.isVarying, number == 1 { fields["Vary"] = "Accept-Language" }
                return try Response(to: request, 200, headers: fields, body: Array("\(number)".utf8))
            }
        }
        let slow = Task { try await client.get("http://a.test/") }
        for await _ in asked.stream {}
        #expect(try await client.get("http://a.test/").text == "2")
        mayEnd.continuation.finish()
        #expect(try await slow.value.text == "1")
        let last = try await client.get("http://a.test/")
        #expect(last.cacheUse == .hit && last.text == "2")
        // What was asked for later takes its place.
        let reload = Request(.get, "http://a.test/", headers: ["Cache-Control": "no-cache"])
        #expect(try await client.fetch(reload).text == "3")
        #expect(try await client.get("http://a.test/").text == "3")
    }

    @Test("Nor does it take the place of a later one that another process has stored")
    func slowOlderThanAnothers() async throws {
        let (own, others) = (TemporaryFolder.planned(), TemporaryFolder.planned())
        let (asked, mayEnd) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
        let count = SerialNumbers()
        func client(_ folder: TemporaryFolder) throws -> HTTPClient {
            let cache = try ResponseCache.directory(folder.path)
            return HTTPClient.untimed {
                $0.cache = cache
                $0.transport = { request in
                    let number = count.next()
                    if number == 2 {
                        asked.continuation.finish()
                        for await _ in mayEnd.stream {}
                    }
                    let fields: HTTPHeaders = ["Cache-Control": "max-age=60", "Content-Length": "1"]
                    return try Response(to: request, 200, headers: fields, body: Array("\(number)".utf8))
                }
            }
        }
        let first = try client(own)
        let reload = Request(.get, "http://a.test/", headers: ["Cache-Control": "no-cache"])
        #expect(try await first.fetch(reload).text == "1")
        let slow = Task { try await first.fetch(reload).text }
        for await _ in asked.stream {}
        // Of a copy of the folder this process knows as little as of another process.
        try FileManager.default.copyItem(atPath: own.path, toPath: others.path)
        #expect(try await client(others).fetch(reload).text == "3")
        let name = try #require(own.names.first { $0.hasSuffix(".r") })
        try FileManager.default.removeItem(atPath: own.path + "/" + name)
        try FileManager.default.copyItem(atPath: others.path + "/" + name, toPath: own.path + "/" + name)
        mayEnd.continuation.finish()
        #expect(try await slow.value == "2")
        let last = try await first.get("http://a.test/")
        #expect(last.cacheUse == .hit && last.text == "3")
    }

    @Test(
        "The response to a POST is not stored, whatever it says, and removes what is",
        arguments: Place.allCases
    )
    func post(place: Place) async throws {
        let folder = TemporaryFolder.planned()
        let cache = try place.cache(folder)
        let client = HTTPClient.untimed {
            $0.cache = cache
            $0.transport = { request in
                let fields: HTTPHeaders = [
                    "Cache-Control": "max-age=60", "Content-Location": "http://a.test/",
                    "Content-Length": "0",
                ]
                return try Response(to: request, 200, headers: fields)
            }
        }
        #expect(try await client.get("http://a.test/").cacheUse == .miss)
        #expect(try await client.fetch(Request(.post, "http://a.test/")).cacheUse == .bypassed)
        #expect(try await client.get("http://a.test/").cacheUse == .miss)
        #expect(try await client.get("http://a.test/").cacheUse == .hit)
    }

    @Test("The cache is keyed by the name, and the address does not matter")
    func nameNotAddress() async throws {
        let port = try SharedPort(on: ["127.0.0.2", "127.0.0.3"])
        let certificates = ["a.test", "b.test"].map { testAuthority.certificate(for: $0) }
        let servers = try ["127.0.0.2", "127.0.0.3"].map { address in
            try FixtureServer.start(.tls(certificates: certificates), on: address, port: port.number) {
                request in
                .text("\(request.host ?? "") at \(request.serverAddress)", ["Cache-Control": "max-age=60"])
            }
        }
        let client = client(.memory())
        let first = try await client.fetch(servers[0].request(servers[0].https("a.test")))
        // The same name elsewhere is the same resource; another name there is another one.
        let elsewhere = try await client.fetch(servers[1].request(servers[1].https("a.test")))
        #expect(elsewhere.cacheUse == .hit && elsewhere.text == first.text)
        let other = try await client.fetch(servers[0].request(servers[0].https("b.test")))
        #expect(other.cacheUse == .miss && other.text == "b.test:\(port.number) at 127.0.0.2")
    }

    @Test("An expired response is revalidated, and delivered with status 200", arguments: Place.allCases)
    func revalidation(place: Place) async throws {
        let server = try server(["Cache-Control": "no-cache", "ETag": "\"a\""])
        let folder = TemporaryFolder.planned()
        let client = client(try place.cache(folder))
        let request = server.request(server.https("a.test"))
        let first = try await client.fetch(request)
        let second = try await client.fetch(request)
        #expect(second.status == .ok && second.cacheUse == .revalidated && second.body == first.body)
        #expect(second.transaction?.isReused == true)
        #expect(server.requests.map { $0.headers["If-None-Match"] } == [nil, "\"a\""])
    }

    @Test("The server's new response replaces the stored one, although its Last-Modified is older")
    func olderResponse() async throws {
        let isFirst = Locked(true)
        let server = try FixtureServer.secure("a.test") { _ in
            let day = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst ? "Sun, 06" : "Sat, 05"
            }
            return .text(day, ["Cache-Control": "no-cache", "Last-Modified": "\(day) Nov 1994 08:49:37 GMT"])
        }
        let client = client(.memory())
        let request = server.request(server.https("a.test"))
        #expect(try await client.fetch(request).text == "Sun, 06")
        let second = try await client.fetch(request)
        #expect(second.text == "Sat, 05" && second.cacheUse == .miss)
    }

    @Test("A field that is no UTF-8 keeps its bytes in a stored response and in the question for its tag")
    func bytesOfTags() async throws {
        // Latin-1 in the tag (RFC 9110, section 8.8.3), and UTF-8 in the other field.
        let tag: [UInt8] = [0x22, 0x61, 0xE9, 0xFF, 0x22]
        let head = Array("Cache-Control: no-cache\r\nETag: ".utf8) + tag + Array("\r\nX-Odd: \u{e9}\r\n".utf8)
        func reply(_ status: String, _ end: String) -> ByteScript.Step {
            .send(Array("HTTP/1.1 \(status)\r\n".utf8) + head + Array(end.utf8))
        }
        let server = try FixtureServer.start(
            behaviour: .bytes([
                .awaitHead, reply("200 OK", "Content-Length: 2\r\n\r\nok"),
                .awaitHead, reply("304 Not Modified", "\r\n"),
                .awaitHead, reply("304 Not Modified", "\r\n"), .cut,
            ])
        )
        let client = HTTPClient.untimed { $0.cache = .memory() }
        for use in [CacheUse.miss, .revalidated, .revalidated] {
            let response = try await client.get(server.http())
            #expect(response.cacheUse == use && response.text == "ok")
            let place = try #require(response.headers.index(of: "etag"))
            #expect(response.headers.valueBytes(at: place) == tag)
            #expect(response.headers["X-Odd"] == "\u{e9}")
        }
        let received = try await server.nextRecord().received
        let name = Array("If-None-Match: ".utf8)
        let lines = received.split(separator: UInt8(ascii: "\n")).map(Array.init)
        let questions = lines.filter { $0.starts(with: name) }
        let question: [UInt8] = name + Array(tag) + [0x0D]
        #expect(questions == [question, question])
    }

    @Test(
        "A 304 about another version removes the entry, and the origin is asked again",
        arguments: Place.allCases
    )
    func otherVersion(place: Place) async throws {
        let count = SerialNumbers()
        let server = try FixtureServer.start { request in
            if request.headers["If-None-Match"] != nil { return .status(304, ["ETag": "\"b\""]) }
            let number = count.next()
            let control = number == 1 ? "no-cache" : "no-store"
            return .text("\(number)", ["Cache-Control": control, "ETag": "\"a\""])
        }
        let folder = TemporaryFolder.planned()
        let client = client(try place.cache(folder))
        for number in 1...3 {
            let response = try await client.get(server.http())
            #expect(response.cacheUse == .miss && response.text == "\(number)")
        }
        #expect(server.requests.map { $0.headers["If-None-Match"] } == [nil, "\"a\"", nil, nil])
    }

    @Test(
        "What was stored is not shown again after an answer that says otherwise and is not stored itself",
        arguments: Place.allCases,
        [
            (.get, 200, ["Cache-Control": "no-store"]), (.get, 200, ["Vary": "*", "ETag": "\"b\""]),
            (.get, 410, [:]), (.get, 401, [:]), (.get, 302, ["Location": "/login"]), (.head, 404, [:]),
            (.head, 200, ["Last-Modified": "Mon, 02 Feb 2026 00:00:00 GMT", "Cache-Control": "max-age=60"]),
            (.get, 206, ["ETag": "\"b\"", "Content-Range": "bytes 0-0/3"]),
            (.get, 304, ["ETag": "\"b\""]),
        ] as [(HTTPMethod, Int, FixtureHeaders)]
    )
    func noWayBack(place: Place, answer: (method: HTTPMethod, status: Int, fields: FixtureHeaders))
        async throws
    {
        let server = try FixtureServer.start { request in
            if request.headers["X-Again"] == nil {
                let modified = "Sun, 01 Feb 2026 00:00:00 GMT"
                return .text(
                    "old",
                    ["Cache-Control": "max-age=60", "ETag": "\"a\"", "Last-Modified": modified]
                )
            }
            let content: [Int: String] = [304: "", 206: "n"]
            let text = content[answer.status] ?? "new"
            return .bytes(Array(text.utf8), status: answer.status, answer.fields)
        }
        let folder = TemporaryFolder.planned()
        let cache = try place.cache(folder)
        let client = HTTPClient.untimed {
            $0.cache = cache
            $0.redirects = .deliver
        }
        for use in [CacheUse.miss, .hit] { #expect(try await client.get(server.http()).cacheUse == use) }
        var request = Request(answer.method, server.http(), headers: ["X-Again": "1"])
        request.headers["Cache-Control"] = "no-cache"
        if answer.status == 206 { request.headers["Range"] = "bytes=0-0" }
        if answer.status == 304 { request.headers["If-None-Match"] = "\"b\"" }
        #expect(try await client.fetch(request).status.code == UInt16(answer.status))
        #expect(try await client.get(server.http()).cacheUse == .miss)
    }

    @Test(
        "What was stored is not shown again after another response that turns out to be no entry",
        arguments: Place.allCases,
        ["too large", "cut off", "not read"]
    )
    func noWayBackLater(place: Place, fault: String) async throws {
        let server = try FixtureServer.start { request in
            guard request.headers["X-Again"] != nil else {
                return .text("old", ["Cache-Control": "max-age=60", "ETag": "\"a\""])
            }
            let chunk = [UInt8](repeating: 1, count: 1_000)
            let reply =
                fault == "cut off"
                ? FixtureReply.written(framing: .chunked) { writer in
                    try writer.write(chunk)
                    throw CancellationError()
                } : .chunked(Array(repeating: chunk, count: 9))
            return reply.adding("Cache-Control", value: "max-age=60").adding("ETag", value: "\"b\"")
        }
        let folder = TemporaryFolder.planned()
        let cache = try place.cache(folder, CacheLimits(bytes: 32 << 20, objectBytes: 4_000))
        let client = HTTPClient.untimed { $0.cache = cache }
        for use in [CacheUse.miss, .hit] { #expect(try await client.get(server.http()).cacheUse == use) }
        let again = Request(.get, server.http(), headers: ["X-Again": "1", "Cache-Control": "no-cache"])
        var response: HTTPClient.Response? = try await client.send(again)
        if fault != "not read" { _ = try? await response?.body.collect(upTo: 100_000) }
        await response?.body.drain()
        response = nil
        #expect(try await client.get(server.http()).cacheUse == .miss)
    }

    @Test(
        "What was stored stays after an answer that does not speak of it",
        arguments: Place.allCases,
        [429, 503, 416, 206]
    )
    func unrelatedAnswers(place: Place, status: Int) async throws {
        let server = try FixtureServer.start { request in
            let fields: FixtureHeaders = ["Cache-Control": "max-age=60", "ETag": "\"a\""]
            guard request.headers["Range"] != nil else { return .text("old", fields) }
            return .bytes([111], status: status, ["ETag": "\"a\"", "Content-Range": "bytes 0-0/3"])
        }
        let folder = TemporaryFolder.planned()
        let client = client(try place.cache(folder))
        #expect(try await client.get(server.http()).cacheUse == .miss)
        let part: HTTPHeaders = ["Range": "bytes=0-0", "Cache-Control": "no-cache"]
        #expect(try await client.get(server.http(), headers: part).status.code == UInt16(status))
        #expect(try await client.get(server.http()).cacheUse == .hit)
    }

    @Test(
        "Nothing of an answer with no-store is kept, though it confirms an entry",
        arguments: Place.allCases,
        [HTTPMethod.head, .get]
    )
    func unstorableConfirmation(place: Place, method: HTTPMethod) async throws {
        let server = try FixtureServer.start { request in
            let isConditional = request.headers["If-None-Match"] != nil
            if request.headers["X-Own"] == nil {
                return isConditional ? .status(304) : .text("kept", ["ETag": "\"a\""])
            }
            let secret: FixtureHeaders = [
                "ETag": "\"a\"", "Cache-Control": "no-store, max-age=60", "X-Balance": "12",
            ]
            return isConditional ? .status(304, secret) : .text("kept", secret)
        }
        let folder = TemporaryFolder.planned()
        let client = client(try place.cache(folder))
        _ = try await client.get(server.http())
        var own: HTTPHeaders = ["X-Own": "1"]
        if method == .get { own["If-None-Match"] = "\"a\"" }
        #expect(
            try await client.fetch(Request(method, server.http(), headers: own)).headers["X-Balance"] == "12"
        )
        let last = try await client.get(server.http())
        #expect(last.cacheUse == .revalidated && last.headers["X-Balance"] == nil)
    }

    @Test("A large response is stored and delivered in pieces", arguments: Place.allCases)
    func large(place: Place) async throws {
        let size = 3 << 20
        let server = try FixtureServer.secure("a.test") { request in
            request.path == "/length"
                ? FixtureReply.pattern(count: size).adding("Cache-Control", value: "max-age=60")
                : FixtureReply.pattern(count: size, framing: .chunked).adding(
                    "Cache-Control",
                    value: "max-age=60"
                )
        }
        let folder = TemporaryFolder.planned()
        let client = client(try place.cache(folder))
        for path in ["/length", "/chunked"] {
            for use in [CacheUse.miss, .hit] {
                let response = try await client.send(server.request(server.https("a.test", path)))
                #expect(response.cacheUse == use)
                var count = 0
                for try await piece in response.body {
                    #expect(isPattern(piece, at: count))
                    count += piece.count
                }
                #expect(count == size)
            }
            var part = server.request(server.https("a.test", path))
            part.headers["Range"] = "bytes=65530-131079"
            let response = try await client.fetch(part)
            #expect(response.status == .partialContent && response.cacheUse == .hit)
            #expect(response.body.count == 65_550 && isPattern(response.body, at: 65_530))
        }
        #expect(server.requests.count == 2)
    }

    @Test("A response that was not received or not read completely is not stored", arguments: Place.allCases)
    func incomplete(place: Place) async throws {
        let fields: FixtureHeaders = ["Cache-Control": "max-age=60", "Content-Length": "200000"]
        let server = try FixtureServer.start { request in
            let reply = FixtureReply.bytes(pattern(at: 0, count: 200_000), ["Cache-Control": "max-age=60"])
            if request.path == "/cut" { return .bytes(pattern(at: 0, count: 100_000), fields).then(.cut) }
            if request.path == "/close" {
                return .bytes([1, 2, 3], ["Cache-Control": "max-age=60"], framing: .untilClose)
            }
            return reply
        }
        let folder = TemporaryFolder.planned()
        let client = client(try place.cache(folder))
        for _ in 0..<2 {
            await #expect(throws: HTTPError.self) { _ = try await client.get(server.http("/cut")) }
            let left = try await client.send(Request(.get, server.http("/left")))
            var pieces = left.body.makeAsyncIterator()
            _ = try await pieces.next()
            // Its end is no different from a break.
            #expect(try await client.get(server.http("/close")).body == [1, 2, 3])
        }
        let paths = server.requests.map(\.target)
        #expect(paths.count { $0 == "/cut" } == 2 && paths.count { $0 == "/close" } == 2)
        #expect(paths.count { $0 == "/left" } == 2)
    }

    @Test("A response to a request from before a change of the resource is not stored")
    func overtaken() async throws {
        let mayAnswer = Gate()
        let server = try FixtureServer.start { request in
            guard request.method == "GET" else { return .status(204) }
            return .written { writer in
                try writer.write("old")
                try writer.wait(for: mayAnswer)
                try writer.write(" content")
            }.adding("Cache-Control", value: "max-age=60")
        }
        let client = client(.memory())
        let slow = try await client.send(Request(.get, server.http()))
        #expect(try await client.fetch(Request(.delete, server.http())).cacheUse == .bypassed)
        mayAnswer.open()
        #expect(try await slow.body.collect(upTo: 100).count == 11)
        #expect(try await client.get(server.http()).cacheUse == .miss)
    }

    @Test("A cached redirect is followed, and the cache's conditions are not sent to another origin")
    func redirects() async throws {
        let server = try FixtureServer.secure("a.test", "b.test") { request in
            switch (request.host?.hasPrefix("a."), request.path) {
            case (true, "/kept"):
                .redirect(to: "https://b.test:\(request.serverPort)/", status: 301).adding(
                    "Cache-Control",
                    value: "max-age=60"
                )
            case (true, "/moves") where request.headers["If-None-Match"] == nil:
                .text("here", ["ETag": "\"a\"", "Cache-Control": "no-cache"])
            case (true, "/moves"): .redirect(to: "https://b.test:\(request.serverPort)/", status: 302)
            default: .text("there")
            }
        }
        var map = StaticMap()
        for name in ["a.test", "b.test"] { try map.set([server.endpoint], for: .host(try HTTPHost(name))) }
        let client = HTTPClient.trusting { [map] in
            $0.cache = .memory()
            $0.addresses = map
        }
        for _ in 0..<2 { #expect(try await client.get(server.https("a.test", "/kept")).text == "there") }
        #expect(server.requests.count { $0.target == "/kept" } == 1)
        #expect(try await client.get(server.https("a.test", "/moves")).text == "here")
        #expect(try await client.get(server.https("a.test", "/moves")).text == "there")
        let conditions = server.requests.filter { $0.headers["If-None-Match"] != nil }
        #expect(conditions.map(\.target) == ["/moves"])
    }

    @Test("A response for one user is never given to another")
    func authorization() async throws {
        let server = try FixtureServer.secure("a.test") { request in
            .text("for \(request.headers["Authorization"] ?? "all")", ["Cache-Control": "max-age=60"])
        }
        let client = client(.memory())
        for _ in 0..<2 {
            for who in ["Bearer one", "Bearer two", nil] {
                var request = server.request(server.https("a.test"))
                request.headers["Authorization"] = who
                #expect(try await client.fetch(request).text == "for \(who ?? "all")")
            }
        }
        #expect(server.requests.count == 3)
    }

    @Test(
        "A call with cookies of its own, or with none, has its own responses, though the server forgets Vary",
        arguments: Place.allCases
    )
    func owners(place: Place) async throws {
        let server = try FixtureServer.secure("a.test") { request in
            request.method == "PUT"
                ? .status(204)
                : .text("for \(request.headers["Cookie"] ?? "all")", ["Cache-Control": "private, max-age=60"])
        }
        let folder = TemporaryFolder.planned()
        let jars = try ["client", "alice", "bob"].map { user in
            let jar = CookieJar()
            jar.add(try Cookie("sid", user, for: DirectHTTP.HTTPHost("a.test")))
            return jar
        }
        let cache = try place.cache(folder)
        let client = HTTPClient.trusting {
            $0.cache = cache
            $0.cookies = jars[0]
        }
        func get(_ jar: CookieJar?, own cookie: String? = nil) async throws -> (String?, CacheUse?) {
            var request = server.request(server.https("a.test"))
            request.cookies = jar
            request.headers["Cookie"] = cookie
            let response = try await client.fetch(request)
            return (response.text, response.cacheUse)
        }
        for use in [CacheUse.miss, .hit] {
            #expect(try await get(nil) == ("for sid=client", use))
            #expect(try await get(jars[1]) == ("for sid=alice", use))
            #expect(try await get(jars[2]) == ("for sid=bob", use))
        }
        // The client's own jar is the client, however it is named.
        #expect(try await get(jars[0]) == ("for sid=client", .hit))
        // What one owner changes is changed for all.
        var change = server.request(server.https("a.test"))
        change.method = .put
        change.cookies = jars[1]
        _ = try await client.fetch(change)
        for jar in jars { #expect(try await get(jar).1 == .miss) }
    }

    @Test("A store that is gone has no heir: another one in its place finds none of its responses")
    func ownersThatAreGone() async throws {
        let server = try server(["Cache-Control": "private, max-age=60"])
        let client = client(.memory())
        for _ in 0..<40 {
            var request = server.request(server.https("a.test"))
            request.cookies = CookieJar()
            #expect(try await client.fetch(request).cacheUse == .miss)
        }
    }

    @Test("A Cookie field of the caller's own selects where no store adds one")
    func cookiesOfCallers() async throws {
        let server = try FixtureServer.secure("a.test") { request in
            .text("for \(request.headers["Cookie"] ?? "all")", ["Cache-Control": "max-age=60"])
        }
        let client = client(.memory())
        for _ in 0..<2 {
            for who in ["sid=a", "sid=b,,c", "sid=b,c", nil] {
                var request = server.request(server.https("a.test"))
                request.headers["Cookie"] = who
                #expect(try await client.fetch(request).text == "for \(who ?? "all")")
            }
        }
        #expect(server.requests.count == 4)
    }

    @Test("Coded content answers no request for a range or without codings, though the server forgets Vary")
    func codedContent() async throws {
        let plain = Array("0123456789".utf8)
        let server = try FixtureServer.secure("a.test") { request in
            let fields: FixtureHeaders = ["Cache-Control": "max-age=60", "ETag": "\"c\""]
            let isCoded = request.headers["Accept-Encoding"]?.contains("gzip") == true
            if request.headers["Range"] != nil {
                return .bytes(Array(plain.prefix(5)), status: 206, fields)
                    .adding("Content-Range", value: "bytes 0-4/10")
            }
            return isCoded
                ? .bytes(deflated(plain), fields).adding("Content-Encoding", value: "gzip")
                : .bytes(plain, fields)
        }
        let client = client(.memory())
        let request = server.request(server.https("a.test"))
        var range = request
        range.headers["Range"] = "bytes=0-4"
        var uncoded = request
        uncoded.headers["Accept-Encoding"] = "identity"
        #expect(try await client.fetch(request).body == plain)
        #expect(try await client.fetch(range).body == Array(plain.prefix(5)))
        #expect(try await client.fetch(uncoded).body == plain)
        #expect(try await client.fetch(request).cacheUse == .hit)
        #expect(server.requests.count == 3)
    }

    @Test("A response for one client is never given to another whose own fields authenticate it")
    func authorizationOfClients() async throws {
        let server = try FixtureServer.secure("a.test") { request in
            .text("for \(request.headers["Authorization"] ?? "all")", ["Cache-Control": "max-age=60"])
        }
        let cache = ResponseCache.memory()
        for _ in 0..<2 {
            for who in ["Bearer one", "Bearer two", nil] {
                let client = HTTPClient.trusting {
                    $0.cache = cache
                    $0.headers["Authorization"] = who
                }
                let response = try await client.fetch(server.request(server.https("a.test")))
                #expect(response.text == "for \(who ?? "all")")
            }
        }
        #expect(server.requests.count == 3)
    }

    @Test("A response to the client's own credentials is not used after a redirect from another origin")
    func authorizationAwayFromHome() async throws {
        let script = Script(
            (200, ["Cache-Control": "max-age=60"]),
            (302, ["Location": "https://a.test/"]),
            (200, [:])
        )
        let client = script.client {
            $0.cache = .memory()
            $0.headers["Authorization"] = "Bearer one"
        }
        _ = try await client.get("https://a.test/")
        #expect(try await client.get("https://b.test/").cacheUse == .miss)
        #expect(script.urls == ["https://a.test/", "https://b.test/", "https://a.test/"])
        #expect(script.requests.map { $0.headers.contains("Authorization") } == [true, true, false])
    }

    @Test("The client's own fields select among cached responses")
    func defaultFields() async throws {
        let server = try FixtureServer.secure("a.test") { request in
            .text(request.headers["User-Agent"] ?? "", ["Cache-Control": "max-age=60", "Vary": "User-Agent"])
        }
        let cache = ResponseCache.memory()
        for agent in ["one", "two", "one"] {
            let client = HTTPClient.trusting {
                $0.cache = cache
                $0.headers["User-Agent"] = agent
            }
            #expect(try await client.fetch(server.request(server.https("a.test"))).text == agent)
        }
        #expect(cache.statistics[.hit] == 1)
    }

    @Test(
        "A response for a login by Digest, which no later request repeats, takes no room",
        arguments: [true, false]
    )
    func digest(_ hasCount: Bool) async throws {
        let challenge =
            #"Digest realm="here", nonce="n", algorithm=SHA-256"# + (hasCount ? #", qop="auth""# : "")
        let server = try FixtureServer.start { request in
            guard request.headers["authorization"] != nil else {
                return .text("who?", status: 401, ["WWW-Authenticate": challenge])
            }
            return .text("kept", ["Cache-Control": "max-age=60"])
        }
        let folder = TemporaryFolder.planned()
        let cache = try ResponseCache(folder: folder.path) { .now }
        var request = Request(.get, server.http())
        request.authenticator = .digest(user: "user", password: "pass")
        let client = HTTPClient.untimed { $0.cache = cache }
        for _ in 0..<2 { #expect(try await client.fetch(request).text == "kept") }
        #expect(cache.statistics[.hit] == (hasCount ? nil : 1))
        #expect(folder.names.contains { $0.hasSuffix(".r") } == !hasCount)
    }

    @Test("A stale response has the history of the attempts that it stands in for", arguments: [true, false])
    func attemptsBehindStale(isFailure: Bool) async throws {
        let fields: FixtureHeaders = ["Cache-Control": "max-age=0, stale-if-error=1000", "ETag": "\"a\""]
        let origin = try FixtureServer.start { request in
            if request.headers["if-none-match"] == nil { return .text("kept", fields) }
            return isFailure ? .raw("", then: .cut) : .status(503)
        }
        let client = HTTPClient.untimed {
            $0.cache = .memory()
            $0.retries = RetryPolicy()
            $0.retries?.delay = .zero
        }
        _ = try await client.get(origin.http("/"))
        let stale = try await client.get(origin.http("/"))
        #expect(stale.cacheUse == .stale && stale.text == "kept")
        #expect(stale.history.map(\.reason) == [.retry, .retry] && stale.retryStop == .attempts)
    }

    @Test("A stale response is used if the proxy is unreachable")
    func unreachableProxy() async throws {
        let fields: FixtureHeaders = ["Cache-Control": "max-age=0, stale-if-error=1000", "ETag": "\"a\""]
        let origin = try FixtureServer.start { _ in .text("kept", fields) }
        let cache = ResponseCache.memory()
        _ = try await client(cache).get(origin.http("/"))
        func proxied(by proxy: FixtureServer) throws -> HTTPClient {
            let settings = ProxySettings(try Proxy("http://\(proxy.authority)"))
            return HTTPClient.untimed {
                $0.cache = cache
                $0.proxy = settings
            }
        }
        let dead = try FixtureServer.refusing()
        let consoled = try await proxied(by: dead).get(origin.http("/"))
        #expect(consoled.cacheUse == .stale && consoled.text == "kept")
    }

    @Test("A stale response is used if the origin is unreachable, but not after a failed check")
    func unreachable() async throws {
        let port = try SharedPort(on: ["127.0.0.2", "127.0.0.3", "127.0.0.4"])
        let fields: FixtureHeaders = ["Cache-Control": "max-age=0, stale-if-error=1000", "ETag": "\"a\""]
        let good = testAuthority.certificate(for: "a.test")
        let origin = try FixtureServer.start(.tls(good), on: "127.0.0.2", port: port.number) { _ in
            .text("kept", fields)
        }
        let dead = try FixtureServer.refusing(on: "127.0.0.3", port: port.number)
        let other = testAuthority.certificate(for: "b.test")
        let impostor = try FixtureServer.start(.tls(other), on: "127.0.0.4", port: port.number) { _ in
            .text("evil")
        }
        let cache = ResponseCache.memory()
        _ = try await client(cache).fetch(origin.request(origin.https("a.test")))
        // Each a client of its own: connections that are there would be used again.
        let consoled = try await client(cache).fetch(dead.request(origin.https("a.test")))
        #expect(consoled.cacheUse == .stale && consoled.text == "kept")
        let error = try await httpError {
            try await client(cache).fetch(impostor.request(origin.https("a.test")))
        }
        #expect(error.phase == .tls)
        let guarded = HTTPClient.trusting {
            $0.cache = cache
            $0.vetting = .publicInternetOnly
        }
        let refusal = try await httpError { try await guarded.fetch(dead.request(origin.https("a.test"))) }
        guard case .refused = refusal.reason else { throw refusal }
    }

    @Test("A coded response is stored as it came, and decoded for each use")
    func coded() async throws {
        let coded = Data(base64Encoded: "H4sIAAAAAAACA0vOzytJzSsBAKkwxf4HAAAA") ?? Data()
        let server = try FixtureServer.secure("a.test") { request in
            .bytes(
                [UInt8](coded),
                ["Content-Encoding": "gzip", "Cache-Control": "max-age=60", "Vary": "Accept-Encoding"]
            )
        }
        let client = client(.memory())
        let request = server.request(server.https("a.test"))
        for use in [CacheUse.miss, .hit, .hit] {
            let response = try await client.fetch(request)
            #expect(response.cacheUse == use && response.text == "content")
        }
        // For the server, a request without decoding is a request for another variant.
        var raw = request
        raw.headers["Accept-Encoding"] = "identity"
        #expect(try await client.fetch(raw).cacheUse == .miss)
    }

    @Test("A client without a cache reports no use of one")
    func none() async throws {
        let server = try server(["Cache-Control": "max-age=60"])
        for _ in 0..<2 {
            #expect(
                try await HTTPClient.trusting().fetch(server.request(server.https("a.test"))).cacheUse == nil
            )
        }
        #expect(server.requests.count == 2)
    }

    @Test("A removed response is not used again")
    func removal() async throws {
        let server = try server(["Cache-Control": "max-age=60"])
        let cache = ResponseCache.memory()
        let client = client(cache)
        let request = server.request(server.https("a.test", "/#part"))
        for forget in [{ await cache.removeAll() }, { await cache.remove(try request.url) }]
            as [() async throws -> Void]
        {
            #expect(try await client.fetch(request).cacheUse == .miss)
            #expect(try await client.fetch(request).cacheUse == .hit)
            try await forget()
        }
        #expect(try await client.fetch(request).cacheUse == .miss)
    }

    @Test("Concurrent uses of a stale response cause one request behind it")
    func singleFlight() async throws {
        let mayAnswer = Gate()
        let count = SerialNumbers()
        let server = try FixtureServer.start { request in
            let number = count.next()
            if number > 1 { try request.wait(for: mayAnswer) }
            return .text(
                "\(number)",
                ["Cache-Control": "max-age=0, stale-while-revalidate=60", "ETag": "\"\(number)\""]
            )
        }
        let cache = ResponseCache.memory()
        let client = client(cache)
        _ = try await client.get(server.http())
        for _ in 0..<5 {
            let response = try await client.get(server.http())
            #expect(response.cacheUse == .stale && response.text == "1")
        }
        mayAnswer.open()
        await cache.settle()
        #expect(server.requests.count == 2)
        #expect(try await client.get(server.http()).text == "2")
        await cache.settle()
    }

    @Test("The refresh of one asker's stale response does not keep that of another from its own")
    func revalidationOfTwo() async throws {
        let mayAnswer = Gate()
        let asked = Locked<[String]>([])
        let server = try FixtureServer.start { request in
            let key = request.headers["x-api-key"] ?? ""
            let isFirst = asked.withLock { asked in
                asked.append(key)
                return asked.count { $0 == key } == 1
            }
            if !isFirst { try request.wait(for: mayAnswer) }
            return .text(key, ["Cache-Control": "max-age=0, stale-while-revalidate=60"])
        }
        let cache = ResponseCache.memory()
        for _ in 0..<2 {
            for key in ["alice", "bob"] {
                let client = HTTPClient.untimed { ($0.cache, $0.headers["X-Api-Key"]) = (cache, key) }
                #expect(try await client.get(server.http()).text == key)
            }
        }
        mayAnswer.open()
        await cache.settle()
        #expect(asked.withLock { $0.sorted() } == ["alice", "alice", "bob", "bob"])
    }

    @Test("A length that framed nothing ends no content in the cache", arguments: Place.allCases)
    func doubtfulFraming(place: Place) async throws {
        let folder = TemporaryFolder.planned()
        let server = try FixtureServer.start { _ in
            .raw(
                "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 5\r\n"
                    + "Transfer-Encoding: chunked\r\n\r\n5\r\nAAAAA\r\n5\r\nBBBBB\r\n0\r\n\r\n"
            )
        }
        let cache = try place.cache(folder)
        let client = HTTPClient.untimed {
            ($0.cache, $0.leniency.acceptsDoubtfulFraming) = (cache, true)
        }
        for use in [CacheUse.miss, .hit] {
            let response = try await client.get(server.http())
            #expect(response.cacheUse == use && response.text == "AAAAABBBBB")
        }
    }

    @Test("The request behind a stale response reports to nobody: its call may have ended")
    func silentRevalidation() async throws {
        let mayAnswer = Gate()
        let count = SerialNumbers()
        let server = try FixtureServer.start { request in
            if count.next() > 1 { try request.wait(for: mayAnswer) }
            return .text("kept", ["Cache-Control": "max-age=0, stale-while-revalidate=60"])
        }
        let cache = ResponseCache.memory()
        let client = client(cache)
        _ = try await client.get(server.http())
        let calls = Locked(0)
        var request = Request(.get, server.http())
        request.onDownload = { _ in calls.withLock { $0 += 1 } }
        #expect(try await client.fetch(request).cacheUse == .stale)
        let callsBefore = calls.withLock { $0 }
        mayAnswer.open()
        await cache.settle()
        #expect(server.requests.count == 2 && calls.withLock { $0 } == callsBefore)
    }

    @Test(
        "The request behind a stale response reads no more than may be stored",
        arguments: ["max-age=0, stale-while-revalidate=60", "no-store"]
    )
    func endlessRevalidation(control: String) async throws {
        let count = SerialNumbers()
        let server = try FixtureServer.start { request in
            guard count.next() > 1 else {
                return .text("kept", ["Cache-Control": "max-age=0, stale-while-revalidate=60"])
            }
            return .written { writer in
                while true { try writer.write([UInt8](repeating: 7, count: 16_384)) }
            }.adding("Cache-Control", value: control)
        }
        let cache = ResponseCache.memory(.init(bytes: 1 << 20, objectBytes: 1 << 18))
        let client = client(cache)
        _ = try await client.get(server.http())
        #expect(try await client.get(server.http()).cacheUse == .stale)
        // Only where the client lets go of the content is there an end.
        await cache.settle()
    }
}

/// The place where a cache keeps its responses.
enum Place: CaseIterable, CustomTestStringConvertible {
    case memory
    case folder

    var testDescription: String { self == .memory ? "in memory" : "in a folder" }

    func cache(_ folder: TemporaryFolder, _ limits: CacheLimits? = nil) throws -> ResponseCache {
        let limits = limits ?? CacheLimits(bytes: 32 << 20, objectBytes: 8 << 20)
        return self == .memory ? .memory(limits) : try .directory(folder.path, limits)
    }
}

/// Counts from one.
final class SerialNumbers: Sendable {
    private let count = Locked(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

extension FixtureServer {
    fileprivate var requests: [RequestRecord] { records.flatMap(\.requests).sorted { $0.order < $1.order } }
}
