import DirectCore
import DirectTestCommands
import TLSFixtures
import Testing

@testable import DirectHTTP

/// Keeps the fields of the requests that interceptors have seen.
private final class Seen: Sendable {
    private let fields = Locked<[[String: String]]>([])

    var all: [[String: String]] { fields.withLock { $0 } }

    func note(_ headers: HTTPHeaders) {
        fields.withLock { $0.append(Self.table(headers.map { ($0.name, $0.value) })) }
    }

    static func table(_ fields: [(String, String)]) -> [String: String] {
        Dictionary(fields.map { ($0.lowercased(), $1) }) { "\($0), \($1)" }
    }

    var interceptor: Interceptor {
        { request, forward in
            self.note(request.headers)
            return try await forward(request)
        }
    }
}

extension RequestRecord {
    fileprivate var table: [String: String] { Seen.table(headers.fields.map { ($0.name, $0.value) }) }
}

extension FixtureServer {
    fileprivate var tables: [[String: String]] { requests.map(\.table) }
}

@Suite("The final fields in network interceptors", .idleLimit)
struct FinalFieldsTests {
    private let server: FixtureServer

    init() throws {
        server = try FixtureServer.start { request in
            _ = try request.body
            return request.path == "/from"
                ? .redirect(to: "/to", status: 307) : .text("\(request.method) ok")
        }
    }

    private func upload(length: UInt64?) -> RequestBody {
        .replayable(length: length, contentType: "application/x-pieces") {
            AsyncThrowingStream<[UInt8], any Error> { pieces in
                for piece in ["one", "two"] { pieces.yield(Array(piece.utf8)) }
                pieces.finish()
            }
        }
    }

    @Test("An interceptor sees every field as the server receives it, for every kind of body and method")
    func sameAsOnTheWire() async throws {
        let seen = Seen()
        let client = HTTPClient.untimed {
            $0.networkInterceptors = [seen.interceptor]
            $0.cookies = CookieJar()
        }
        var expecting = Request(.put, server.http("/c"), body: .text("later"))
        expecting.expectsContinue = true
        var upgrading = Request(.get, server.http("/d"))
        upgrading.upgrade = ["chat"]
        let requests = [
            Request(.get, server.http("/a"), headers: ["X-Own": "1"]),
            Request(.post, server.http("/b")), Request(.post, server.http("/b"), body: .form(["a": "b c"])),
            Request(.put, server.http("/from"), body: upload(length: 6)),
            Request(.put, server.http("/b"), body: upload(length: nil)),
            Request(.put, server.http("/b"), headers: ["Content-Type": "text/own"], body: .text("x")),
            Request(.delete, server.http("/b")), expecting, upgrading,
            Request(.get, server.http("/e"), headers: ["te": "trailers;q=0.5"]),
        ]
        for request in requests { _ = try await client.fetch(request) }
        let received = server.tables
        #expect(received.count == requests.count + 1)
        for (seen, received) in zip(seen.all, received) { #expect(seen == received) }
        #expect(received.allSatisfy { $0["host"] == server.authority && $0["accept-encoding"] != nil })
        // RFC 9110, section 10.1.4: whoever sends TE names it in Connection.
        #expect(received.last?["te"] == "trailers;q=0.5" && received.last?["connection"] == "TE")
        #expect(received[2]["content-length"] == "5" && received[5]["transfer-encoding"] == "chunked")
    }

    @Test("A second client sends the request that a transport is given, with its final fields")
    func sentBySecondClient() async throws {
        let second = HTTPClient.untimed()
        let client = HTTPClient.untimed {
            $0.cookies = CookieJar()
            $0.transport = { try await second.send($0) }
        }
        var expecting = Request(.put, server.http("/c"), body: .text("later"))
        expecting.expectsContinue = true
        var upgrading = Request(.get, server.http("/d"), headers: ["TE": "trailers"])
        upgrading.upgrade = ["chat"]
        let requests = [
            Request(.get, server.http("/a")), Request(.post, server.http("/b")),
            Request(.post, server.http("/b"), body: try .text("some text").gzipped()),
            Request(.put, server.http("/from"), body: upload(length: 6)),
            Request(.put, server.http("/from"), body: upload(length: nil)), expecting, upgrading,
        ]
        for request in requests {
            let (through, direct) = (try await client.fetch(request), try await second.fetch(request))
            #expect(through.text == direct.text)
        }
        let received = server.requests
        let bodies = received.map(\.bodyText)
        // A redirect is followed by the second client in both cases.
        #expect(received.count == 2 * (requests.count + 2))
        #expect(bodies.filter { $0 == "onetwo" }.count == 8 && bodies.filter { $0 == "later" }.count == 2)
    }

    @Test("A body that an interceptor replaces has its own length and type, for the next interceptor as well")
    func replacedBody() async throws {
        let seen = Seen()
        let client = HTTPClient.untimed {
            $0.networkInterceptors = [
                { request, forward in
                    var request = request
                    let bytes = try await request.collectBody(upTo: 100)
                    request.body = .bytes(Array(bytes.reversed()) + bytes, contentType: "text/new")
                    return try await forward(request)
                }, seen.interceptor,
            ]
        }
        for length in [nil, 6] as [UInt64?] {
            _ = try await client.fetch(Request(.put, server.http("/"), body: upload(length: length)))
        }
        #expect(server.requests.map(\.bodyText) == ["owteno" + "onetwo", "owteno" + "onetwo"])
        #expect(seen.all == server.tables)
        for record in server.requests {
            #expect(record.headers["content-length"] == "12" && record.headers["content-type"] == "text/new")
            #expect(record.headers["transfer-encoding"] == nil)
        }
    }

    @Test("A field that an interceptor removes is not sent, and one that it changes is sent once")
    func removedFields() async throws {
        let client = HTTPClient.untimed {
            $0.networkInterceptors = [
                { request, forward in
                    var request = request
                    for name in ["User-Agent", "Accept-Encoding", "Content-Type"] {
                        request.headers.remove(name)
                    }
                    request.headers["Accept"] = "text/html"
                    return try await forward(request)
                }
            ]
        }
        _ = try await client.post(server.http("/"), .text("hello"))
        let names = try #require(server.requests.first).table.keys.sorted()
        #expect(names == ["accept", "content-length", "host"])
        #expect(server.requests[0].headers["accept"] == "text/html" && server.requests[0].bodyText == "hello")
    }

    @Test("A URL that an interceptor replaces has its own Host, and a false Host or length is refused")
    func replacedURL() async throws {
        let other = try FixtureServer.start { _ in .text("other") }
        let target = other.http("/moved")
        let moving = HTTPClient.untimed {
            $0.networkInterceptors = [
                { request, forward in try await forward(request.replacing(url: target)) }
            ]
        }
        #expect(try await moving.get(server.http()).text == "other")
        #expect(other.requests.map(\.host) == [other.authority])
        for (name, value) in [("Host", "else.test"), ("Content-Length", "3"), ("Connection", "close")] {
            let lying = HTTPClient.untimed {
                $0.networkInterceptors = [
                    { request, forward in
                        var request = request
                        request.headers[name] = value
                        return try await forward(request)
                    }
                ]
            }
            let error = try await httpError { try await lying.post(server.http(), .text("long")) }
            #expect(error.phase == .request, "\(name): \(error)")
        }
        #expect(server.requests.isEmpty)
    }

    @Test("A retry by an interceptor and one by policy show the fields anew, on a connection that is reused")
    func repeated() async throws {
        let seen = Seen()
        let client = HTTPClient.untimed {
            $0.networkInterceptors = [
                { request, forward in
                    _ = try await forward(request).body.collect(upTo: 100)
                    return try await forward(request)
                }, seen.interceptor,
            ]
        }
        let response = try await client.put(server.http(), .text("x"))
        #expect(response.text == "PUT ok" && response.isReused)
        #expect(seen.all.count == 2 && seen.all[0] == seen.all[1])
        #expect(seen.all == server.tables)
    }

    @Test("A body that cannot be measured fails the call before anything is sent")
    func missingFile() async throws {
        let client = HTTPClient.untimed { $0.networkInterceptors = [{ try await $1($0) }] }
        let error = try await httpError {
            try await client.put(server.http(), .file("/nowhere/at/all"))
        }
        #expect(error.phase == .request && error.systemError != nil && server.requests.isEmpty)
    }

    @Test("The fields for a proxy are not shown, and everything else is sent as it was seen")
    func proxied() async throws {
        let seen = Seen()
        // The server takes the absolute target of a request that a proxy is to forward, and answers it
        // itself.
        let client = try HTTPClient.untimed {
            $0.proxy = ProxySettings(try Proxy("http://me:secret@\(server.authority)"))
            $0.networkInterceptors = [seen.interceptor]
        }
        _ = try await client.get("http://a.test/p")
        var received = server.requests[0].table
        #expect(server.requests[0].target == "http://a.test/p")
        #expect(received.removeValue(forKey: "proxy-authorization") != nil && seen.all == [received])
    }
}
