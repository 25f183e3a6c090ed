import DirectHTTP
import DirectTestCommands
import Foundation
import TLSFixtures
import Testing

@Suite("Files as bodies", .idleLimit)
struct FileBodyTests {
    @Test(
        "A file of any size is sent completely, with its length, and more than once",
        arguments: [0, 1, 262_144, 700_001]
    )
    func sizes(size: Int) async throws {
        let file = try TemporaryFile(pattern(at: 0, count: size))
        let server = try FixtureServer.start(
            .tls(testAuthority.certificate(for: "a.test")),
            handler: patternJudge
        )
        let client = HTTPClient.trusting()
        let request = server.request("https://a.test/", .put, body: .file(file.path))
        for _ in 0..<2 { #expect(try await client.fetch(request).text == "\(size) \(size) true") }
    }

    @Test(
        "A part of a file is sent as far as the file has it, with its length, and more than once",
        arguments: [
            0..<1, 5..<5, 262_143..<600_000, 700_000..<800_000, 800_000..<900_000, 0..<700_001,
            .max - 1 ..< .max,
        ]
    )
    func part(range: Range<Int>) async throws {
        let content = pattern(at: 0, count: 700_001)
        let file = try TemporaryFile(content)
        let server = try FixtureServer.start { .bytes(try $0.body) }
        let part = Array(content[range.clamped(to: content.indices)])
        let body = RequestBody.file(file.path, range: UInt64(range.lowerBound)..<UInt64(range.upperBound))
        for _ in 0..<2 { #expect(try await HTTPClient.untimed().put(server.http(), body).body == part) }
        let lengths = server.requests.map { $0.headers["content-length"] }
        #expect(lengths == ["\(part.count)", "\(part.count)"])
    }

    @Test("A file that does not exist, or is no regular file, is an error before anything is sent")
    func missing() async throws {
        let server = try FixtureServer.start(handler: patternJudge)
        let client = HTTPClient.untimed()
        _ = try await client.get(server.http())
        let folder = FileManager.default.temporaryDirectory.path
        let paths = [folder + "/nobody-has-this.bin", folder, "/dev/zero", "/etc/hostname\0.txt"]
        for (path, code) in zip(paths, [ENOENT, EISDIR, EINVAL, EINVAL]) {
            let error = try await httpError { try await client.post(server.http(), .file(path)) }
            #expect(error.phase == .request)
            #expect(error.systemError?.code == code, "\(error)")
        }
        #expect(try await client.get(server.http()).isReused)
    }

    @Test(
        "A file that grows or shrinks while it is sent is an error, and the request stays incomplete",
        arguments: [true, false]
    )
    func changing(grows: Bool) async throws {
        // More than the sockets hold: some of it is still to be read when the server has the head.
        let size = 32 << 20
        let file = try TemporaryFile([])
        try file.resize(to: size)
        let mayRead = Gate()
        let server = try FixtureServer.start { request in
            try request.wait(for: mayRead)
            return .text("\(try request.discardBody())")
        }
        async let answer = httpError { try await HTTPClient.untimed().post(server.http(), .file(file.path)) }
        try await server.waitUntil { $0.first?.requests.count == 1 }
        try file.resize(to: grows ? size + 1 : size / 2)
        mayRead.open()
        let error = try await answer
        guard case .bodyLength(announced: UInt64(size), let given) = error.reason else {
            Issue.record("\(error)")
            return
        }
        #expect(grows ? given == size + 1 : given < size)
        #expect(try await server.nextRecord().requests.first?.isComplete == false)
    }

    @Test("A file is sent in a multipart form, with its name and the length of the whole")
    func inForm() async throws {
        let file = try TemporaryFile(pattern(at: 0, count: 300_000))
        let server = try FixtureServer.start { request in
            let body = try request.body
            let end = Array("\r\n--".utf8)
            let start = body.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound ?? 0
            let content = Array(body[start..<start + 300_000])
            let head = String(decoding: body[..<start], as: UTF8.self)
            let isWhole = isPattern(content, at: 0) && body[(start + 300_000)...].starts(with: end)
            return .text("\(request.headers["content-length"] == "\(body.count)") \(isWhole) \(head)")
        }
        let body = RequestBody.multipart([.file("upload", path: file.path), .field("a", "b")])
        let answer = try #require(try await HTTPClient.untimed().post(server.http(), body).text)
        #expect(answer.hasPrefix("true true --direct-http-"))
        #expect(
            answer.contains(
                "name=\"upload\"; filename=\"\(file.name)\"\r\nContent-Type: application/octet-stream\r\n"
            )
        )
    }
}

/// A file that goes with its last reference.
final class TemporaryFile: Sendable {
    let path: String

    init(_ bytes: [UInt8]) throws {
        path = FileManager.default.temporaryDirectory.path + "/direct-http-\(UUID().uuidString).bin"
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func resize(to size: Int) throws {
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try handle.truncate(atOffset: UInt64(size))
        try handle.close()
    }

    var name: String { path.split(separator: "/").last.map(String.init) ?? "" }
}
