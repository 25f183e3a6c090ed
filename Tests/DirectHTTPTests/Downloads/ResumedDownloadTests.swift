@testable import DirectCore
import DirectTLS
import DirectTestCommands
import DirectTestTime
import Foundation
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Downloads that resume", .idleLimit)
struct ResumedDownloadTests {
    private let folder: TemporaryFolder
    private let content = pattern(at: 0, count: 3_000_000)

    init() throws {
        folder = try TemporaryFolder()
    }

    private var path: String { folder.path + "/film" }

    /// A request for a name at all of these servers.
    private func request(_ servers: [FixtureServer], _ path: String = "/film") throws -> Request {
        var request = Request(.get, "http://a.test:\(try #require(servers.first).port)\(path)")
        request.addresses = servers.map(\.endpoint)
        return request
    }

    private func expectWhole(_ expected: [UInt8]? = nil) throws {
        #expect(try folder.read("film") == expected ?? content)
        #expect(folder.names == ["film"])
    }

    @Test("A download is written completely, and says what it is", arguments: [0, 1, 3_000_000])
    func whole(size: Int) async throws {
        let resource = Resource(count: size)
        let server = try resource.server()
        let heard = Heard<TransferProgress>()
        let content = pattern(at: 0, count: size)
        let result = try await HTTPClient.downloading().download(server.http("/film"), to: path) {
            heard.add($0)
        }
        try expectWhole(content)
        let total = UInt64(size)
        #expect(
            result.size == total && result.resumedBytes == 0 && result.restarts == 0 && result.history.isEmpty
        )
        #expect(result.sha256 == MessageDigest.sha256.digest(of: content))
        #expect(result.url.text == server.http("/film") && result.headers["ETag"] == "\"1\"")
        #expect(result.transaction?.endpoint == server.endpoint)
        #expect(heard.all.first == TransferProgress(bytes: 0, total: total))
        #expect(heard.all.last == TransferProgress(bytes: total, total: total))
    }

    @Test(
        "When an address dies in the middle, the rest comes from another one, under the same name and validator"
    )
    func elsewhere() async throws {
        let resource = Resource(content, faults: [.cut(after: 1_000_000), .cut(after: 500_000)])
        let servers = try resource.servers("127.0.0.1", "127.0.0.2", "127.0.0.3")
        let request = try request(servers)
        let result = try await HTTPClient.downloading().download(request, to: path)
        try expectWhole()
        #expect(
            resource.asked == [
                .init(range: nil, condition: nil, address: "127.0.0.1"),
                .init(range: "bytes=1000000-", condition: "\"1\"", address: "127.0.0.2"),
                .init(range: "bytes=1500000-", condition: "\"1\"", address: "127.0.0.3"),
            ]
        )
        #expect(servers.flatMap(\.requests).allSatisfy { $0.host == "a.test:\(servers[0].port)" })
        #expect(result.history.map(\.reason) == [.retry, .retry] && result.restarts == 0)
        #expect(result.history.map(\.endpoint) == [servers[0].endpoint, servers[1].endpoint])
    }

    @Test("Over TLS the rest is sent only by a server that proves the same name")
    func certificate() async throws {
        let resource = Resource(content, faults: [.cut(after: 1_000_000)])
        let first = try FixtureServer.secure("a.test") { resource.answer($0) }
        let wrong = try FixtureServer.secure("b.test", on: "127.0.0.2") { resource.answer($0) }
        var request = Request(.get, "https://a.test/film")
        request.addresses = [first.endpoint, wrong.endpoint]
        let client = HTTPClient.downloading()
        let error = try await httpError { [request] in try await client.download(request, to: path) }
        #expect(error.endpoint == wrong.endpoint && error.phase == .tls && wrong.requests.isEmpty)
        #expect(error.history.count == 1)
        #expect(folder.names == ["film.part", "film.part.info"])
        request.addresses = [first.endpoint]
        let result = try await client.download(request, to: path)
        try expectWhole()
        #expect(result.resumedBytes == 1_000_000)
    }

    @Test("A server that stops is left at the time limit, and the rest comes from another address")
    func stall() async throws {
        let never = Gate()
        defer { never.open() }
        let resource = Resource(content, faults: [.stall(after: 1_000_000, never)])
        let servers = try resource.servers("127.0.0.1", "127.0.0.2")
        let time = HeldTime()
        let client = HTTPClient.downloading { $0.loop = time.loop }
        var request = try request(servers)
        request.timeouts.read = .seconds(60)
        let heard = Heard<TransferProgress>()
        let task = Task { [request] in try await client.download(request, to: path) { heard.add($0) } }
        try await waitUntil { heard.all.last?.bytes == 1_000_000 }
        try await time.pass(.seconds(60))
        _ = try await task.value
        try expectWhole()
        #expect(resource.asked.map(\.address) == ["127.0.0.1", "127.0.0.2"])
    }

    @Test("A resource that has changed begins anew")
    func changed() async throws {
        let resource = Resource(content, faults: [.cut(after: 1_000_000)])
        let server = try resource.server()
        let new = pattern(at: 7, count: 2_000_000)
        let heard = Heard<TransferProgress>()
        let result = try await HTTPClient.downloading().download(request([server]), to: path) {
            if $0.bytes == 1_000_000 { resource.change(to: new, ["ETag": "\"2\""]) }
            heard.add($0)
        }
        try expectWhole(new)
        #expect(resource.ranges == [nil, "bytes=1000000-"] && result.restarts == 1)
        #expect(heard.all.contains(TransferProgress(bytes: 0, total: 2_000_000)))
    }

    @Test("Without a strong validator an interrupted download asks for the whole, and keeps no file")
    func weak() async throws {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        for headers: FixtureHeaders in [[:], ["ETag": "W/\"1\""], ["Last-Modified": date]] {
            let resource = Resource(content, headers, faults: [.cut(after: 1_000_000), .cut(after: 10)])
            let server = try resource.server()
            let result = try await HTTPClient.downloading().download(request([server]), to: path)
            try expectWhole()
            #expect(resource.ranges == [nil, nil, nil] && result.restarts == 0)
            #expect(resource.asked.allSatisfy { $0.condition == nil })
            try FileManager.default.removeItem(atPath: path)
            resource.fault(.cut(after: 9), .cut(after: 9), .cut(after: 9))
            let error = try await httpError {
                try await HTTPClient.downloading().download(request([server]), to: path)
            }
            #expect(error.retryStop == .attempts && error.history.count == 2 && folder.names.isEmpty)
        }
    }

    @Test("A strong date is a validator, too")
    func date() async throws {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let headers: FixtureHeaders = ["Last-Modified": date, "Date": "Sun, 06 Nov 1994 10:49:37 GMT"]
        let resource = Resource(content, headers, faults: [.cut(after: 1_000_000)])
        let server = try resource.server()
        _ = try await HTTPClient.downloading().download(request([server]), to: path)
        try expectWhole()
        #expect(resource.asked.map(\.condition) == [nil, date])
    }

    @Test("Attempts that bring bytes do not count, others do")
    func attempts() async throws {
        let resource = Resource(content, faults: (0..<20).map { _ in .cut(after: 1_000) })
        let server = try resource.server()
        _ = try await HTTPClient.downloading().download(request([server]), to: path)
        try expectWhole()
        #expect(resource.ranges.count == 21 && resource.ranges.last == "bytes=20000-")
        try FileManager.default.removeItem(atPath: path)
        resource.fault(.cut(after: 500), .cut(after: 0), .cut(after: 0), .cut(after: 0))
        let error = try await httpError {
            try await HTTPClient.downloading().download(request([server]), to: path)
        }
        #expect(error.retryStop == .attempts && error.phase == .body && error.history.count == 3)
        #expect(folder.names == ["film.part", "film.part.info"])
    }

    @Test(
        "A status that the policy retries is retried elsewhere, any other one ends the download and keeps its file"
    )
    func statuses() async throws {
        let resource = Resource(
            content,
            faults: [.cut(after: 1_000_000), .reply(.status(503)), nil]
        )
        let servers = try resource.servers("127.0.0.1", "127.0.0.2", "127.0.0.3")
        let result = try await HTTPClient.downloading().download(request(servers), to: path)
        try expectWhole()
        #expect(resource.asked.map(\.address) == ["127.0.0.1", "127.0.0.2", "127.0.0.3"])
        #expect(result.history.map(\.status) == [nil, 503])
        try FileManager.default.removeItem(atPath: path)
        resource.fault(.cut(after: 1_000_000), .reply(.status(403)))
        let error = try await httpError {
            try await HTTPClient.downloading().download(request(servers), to: path)
        }
        guard case .status(403) = error.reason else { throw error }
        #expect(error.history.count == 1 && folder.names == ["film.part", "film.part.info"])
    }

    /// A part with these fields instead of the right ones.
    private func part(_ headers: FixtureHeaders, from start: Int = 1_000_000) -> FixtureReply {
        .bytes(Array(content[start...]), status: 206, headers)
    }

    @Test("A part that does not continue the file is not used: the download begins anew")
    func disagreements() async throws {
        let wrong: [FixtureReply] = [
            part(["ETag": "\"1\"", "Content-Range": "bytes 999999-2999999/3000000"], from: 999_999),
            part(["ETag": "\"1\"", "Content-Range": "bytes 1000000-2999999/4000000"]),
            part(["ETag": "\"2\"", "Content-Range": "bytes 1000000-2999999/3000000"]),
            part(["ETag": "\"1\""]),
            part(["ETag": "\"1\"", "Content-Type": "multipart/byteranges; boundary=x"]),
            part([
                "ETag": "\"1\"", "Content-Range": "bytes 1000000-2999999/3000000", "Content-Encoding": "gzip",
            ]),
            .status(416, ["Content-Range": "bytes */3000000"]),
            .status(416, ["Content-Range": "bytes */1000000"]),
            // Nothing, and less than announced, in chunks that end well.
            .bytes(
                [],
                status: 206,
                ["ETag": "\"1\"", "Content-Range": "bytes 1000000-2999999/3000000"],
                framing: .chunked
            ),
            .bytes(
                Array(content[1_000_000..<2_000_000]),
                status: 206,
                ["ETag": "\"1\"", "Content-Range": "bytes 1000000-2999999/3000000"],
                framing: .chunked
            ),
            // More than announced, in chunks.
            .bytes(
                Array(content[1_000_000...]) + [1],
                status: 206,
                ["ETag": "\"1\"", "Content-Range": "bytes 1000000-2999999/3000000"],
                framing: .chunked
            ),
        ]
        for reply in wrong {
            let resource = Resource(content, faults: [.cut(after: 1_000_000), .reply(reply)])
            let server = try resource.server()
            let result = try await HTTPClient.downloading().download(request([server]), to: path)
            try expectWhole()
            #expect(resource.ranges == [nil, "bytes=1000000-", nil] && result.restarts == 1, "\(reply)")
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test("A server that sends less of the rest than it was asked for is asked for what is missing")
    func less() async throws {
        let some = Array(content[1_000_000..<2_000_000])
        let fields: FixtureHeaders = ["ETag": "\"1\"", "Content-Range": "bytes 1000000-1999999/3000000"]
        let reply = FixtureReply.bytes(some, status: 206, fields)
        let resource = Resource(content, faults: [.cut(after: 1_000_000), .reply(reply)])
        let server = try resource.server()
        _ = try await HTTPClient.downloading().download(request([server]), to: path)
        try expectWhole()
        #expect(resource.ranges == [nil, "bytes=1000000-", "bytes=2000000-"])
    }

    @Test("When servers keep disagreeing, the download stops with an error that says so", arguments: [0, 3])
    func tooManyRestarts(_ limit: Int) async throws {
        let version = Locked(0)
        // Each response is of another version, and breaks off.
        let server = try FixtureServer.start { _ in
            let tag = version.withLock { number in
                number += 1
                return "\"\(number)\""
            }
            return .bytes([1, 2, 3], ["ETag": tag, "Content-Length": "9"]).then(.cut)
        }
        var options = DownloadOptions()
        options.maximumRestarts = limit
        let error = try await httpError { [options] in
            try await HTTPClient.downloading().download(server.http(), to: path, options: options)
        }
        #expect(error.downloadError == .tooManyRestarts(limit, last: .wholeContent))
        #expect("\(error)".contains("the servers do not agree: after \(limit) restarts"))
        #expect(version.withLock { $0 } == limit + 2 && error.history.count == limit + 1)
    }

    @Test(
        "A body whose length nobody announced is complete at its end, and resumes with the length of its parts"
    )
    func unannounced() async throws {
        let chunked = FixtureReply.written(["ETag": "\"1\""]) { [content] writer in
            try writer.write(Array(content.prefix(1_000_000)))
        }
        let resource = Resource(content, faults: [.reply(chunked)])
        let server = try resource.server()
        let client = HTTPClient.downloading()
        let whole = try await client.download(request([server]), to: path)
        #expect(whole.size == 1_000_000)
        let broken = FixtureReply.written(["ETag": "\"1\""]) { [content] writer in
            try writer.write(Array(content.prefix(1_000_000)))
            throw ConnectionEnd.serverCut
        }
        resource.fault(.reply(broken))
        _ = try await client.download(request([server]), to: path)
        try expectWhole()
        #expect(resource.ranges == [nil, nil, "bytes=1000000-"])
    }

    @Test(
        "A body whose length nobody announced is read no further than the expected length",
        arguments: [FixtureReply.Framing.chunked, .untilClose]
    )
    func tooLong(framing: FixtureReply.Framing) async throws {
        let long = FixtureReply.bytes(content, ["ETag": "\"1\""], framing: framing)
        let server = try Resource(content, faults: [.reply(long)]).server()
        let error = try await httpError {
            let options = DownloadOptions(length: 5)
            return try await HTTPClient.downloading().download(request([server]), to: path, options: options)
        }
        guard case .wrongLength(expected: 5, let actual)? = error.downloadError else { throw error }
        #expect(actual > 5 && actual <= 128 << 10)
        #expect(folder.names.isEmpty)
    }

    @Test("The length and the digest are verified; joined parts with a wrong digest are downloaded once more")
    func verification() async throws {
        let digest = try #require(MessageDigest.sha256.digest(of: content))
        let resource = Resource(content)
        let server = try resource.server()
        let client = HTTPClient.downloading()
        _ = try await client.download(
            request([server]),
            to: path,
            options: DownloadOptions(sha256: digest, length: 3_000_000)
        )
        try expectWhole()
        try FileManager.default.removeItem(atPath: path)

        let wrong = [UInt8](repeating: 1, count: 32)
        let error = try await httpError {
            try await client.download(request([server]), to: path, options: DownloadOptions(sha256: wrong))
        }
        #expect(error.downloadError == .wrongDigest(expected: wrong, actual: digest) && folder.names.isEmpty)
        let short = try await httpError {
            try await client.download(request([server]), to: path, options: DownloadOptions(length: 5))
        }
        #expect(short.downloadError == .wrongLength(expected: 5, actual: 3_000_000) && folder.names.isEmpty)

        // A server with other content under the same validator, as a cluster may have it.
        let others = [UInt8](repeating: 9, count: 2_000_000)
        let fields: FixtureHeaders = ["ETag": "\"1\"", "Content-Range": "bytes 1000000-2999999/3000000"]
        resource.fault(.cut(after: 1_000_000), .reply(.bytes(others, status: 206, fields)))
        let result = try await client.download(
            request([server]),
            to: path,
            options: DownloadOptions(sha256: digest)
        )
        try expectWhole()
        #expect(result.restarts == 1 && resource.ranges.suffix(3) == [nil, "bytes=1000000-", nil])
    }

    @Test("A later download continues what an earlier one has left, and tells its progress from there on")
    func nextCall() async throws {
        let resource = Resource(content, faults: [.cut(after: 1_000_000), .reply(.status(404))])
        let server = try resource.server()
        _ = try await httpError { try await HTTPClient.downloading().download(request([server]), to: path) }
        #expect(folder.names == ["film.part", "film.part.info"])
        let heard = Heard<TransferProgress>()
        let result = try await HTTPClient.downloading().download(request([server]), to: path) {
            heard.add($0)
        }
        try expectWhole()
        #expect(result.resumedBytes == 1_000_000 && resource.ranges.last == "bytes=1000000-")
        #expect(heard.all.first == TransferProgress(bytes: 1_000_000, total: 3_000_000))
    }
}
