import DirectTestResolvers
import DirectTestCommands
import Foundation
import TLSFixtures
import Testing

@testable import DirectHTTP

/// A large content, which does not arrive together with the head.
private let size = 200_000

@Suite("Reading a body that is copied into the cache", .idleLimit)
struct CacheFillTests {
    private let server: FixtureServer
    private let client = HTTPClient.untimed { $0.cache = .memory() }

    init() throws {
        server = try FixtureServer.start { request in
            let content = pattern(at: 0, count: size)
            switch request.path {
            case "/from":
                return .bytes(content, status: 301, ["Location": "/to", "Cache-Control": "max-age=60"])
            case "/cut":
                let fields: FixtureHeaders = ["Content-Length": "\(size)", "Cache-Control": "max-age=60"]
                return .bytes(Array(content.prefix(size / 2)), fields).then(.cut)
            case "/cut-behind-a-chunk":
                let fields: FixtureHeaders = ["Transfer-Encoding": "chunked", "Cache-Control": "max-age=60"]
                let chunk = Array("186a0\r\n".utf8) + content.prefix(100_000) + Array("\r\n".utf8)
                return .bytes(chunk, fields).then(.cut)
            default: return .bytes(content, ["Cache-Control": "max-age=60"])
            }
        }
    }

    private func response(_ path: String = "/") async throws -> Response {
        let response = try await client.send(Request(.get, server.http(path)))
        #expect(response.cacheUse == .miss)
        return response
    }

    /// Whether the cache has the response to a request that was just made.
    private func isStored(_ path: String = "/") async throws -> Bool {
        try await client.send(Request(.get, server.http(path))).cacheUse == .hit
    }

    @Test("Its length is known before it is read, so progress has a total and a limit holds at once")
    func length() async throws {
        let folder = try TemporaryFolder()
        let totals = Heard<UInt64>()
        _ = try await response().body.write(to: folder.path + "/file") { totals.add($0.total ?? 0) }
        #expect(Set(totals.all) == [UInt64(size)])
        #expect(try await isStored())
    }

    @Test("One that is larger than the reader's limit is an error with its name, and is not stored")
    func tooLarge() async throws {
        let response = try await response()
        let error = try await httpError { try await response.body.collect(upTo: 100) }
        guard case .bodyTooLarge(limit: 100) = error.reason else { throw error }
        #expect(error.phase == .body && error.name == "127.0.0.1" && error.endpoint == server.endpoint)
        for _ in 0..<2 {
            let again = try await httpError { try await response.body.collect(upTo: size) }
            guard case .bodyTooLarge(limit: 100) = again.reason else { throw again }
            #expect(again.name == "127.0.0.1")
        }
        #expect(try await !isStored())
    }

    @Test(
        "One that breaks off is the same error with and without a cache, and is not stored",
        arguments: ["/cut", "/cut-behind-a-chunk"]
    )
    func cut(path: String) async throws {
        let plain = try await HTTPClient.untimed().send(Request(.get, server.http(path)))
        let expected = try await httpError { try await plain.body.collect(upTo: size) }
        let response = try await response(path)
        let error = try await httpError { try await response.body.collect(upTo: size) }
        #expect("\(error.reason)" == "\(expected.reason)" && error.endpoint == server.endpoint)
        #expect(try await !isStored(path))
    }

    @Test("While one task reads it, another one is refused, and the first reads on to a copy that is whole")
    func twoReaders() async throws {
        let (pieces, place) = (SerialNumbers(), Barrier())
        let source = AsyncThrowingStream<[UInt8], any Error> {
            let number = pieces.next()
            if number == 2 { await place.pass() }
            return number > 2 ? nil : Array("\(number)".utf8)
        }
        let client = HTTPClient.untimed {
            $0.cache = .memory()
            $0.transport = {
                try Response(to: $0, 200, headers: ["Cache-Control": "max-age=60"], stream: source)
            }
        }
        let request = Request(.get, "https://a.test/")
        let response = try await client.send(request)
        let reader = Task { try await response.body.collect(upTo: 9) }
        await place.arrivals(1)
        let error = try await httpError { try await response.body.collect(upTo: 9) }
        guard case .bodyAlreadyRead = error.reason else { throw error }
        #expect(error.name == "a.test" && response.body.trailers.isEmpty)
        place.open()
        #expect(try await reader.value == Array("12".utf8))
        let second = try await client.fetch(request)
        #expect(second.cacheUse == .hit && second.text == "12")
    }

    @Test("The body of a redirect is not copied, the target's is, and the connection is used again")
    func redirect() async throws {
        let first = try await client.fetch(Request(.get, server.http("/from")))
        #expect(first.body.count == size && first.history.count == 1)
        let paths = server.requests.map(\.target)
        #expect(paths == ["/from", "/to"])
        _ = try await client.fetch(Request(.get, server.http("/from")))
        #expect(server.requests.map(\.target) == ["/from", "/to", "/from"])
    }
}
