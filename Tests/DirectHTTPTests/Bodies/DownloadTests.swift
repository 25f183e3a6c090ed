import DirectHTTP
import DirectTestCommands
import Foundation
import TLSFixtures
import Testing

@Suite("Downloads", .idleLimit)
struct DownloadTests {
    @Test("A download is written completely, whatever its size", arguments: [0, 10, 5_000_000])
    func sizes(size: Int) async throws {
        let folder = try TemporaryFolder()
        let server = try FixtureServer.start { _ in .pattern(count: size) }
        let client = HTTPClient.untimed()
        let response = try await client.send(Request(.get, server.http()))
        let heard = Heard<TransferProgress>()
        let count = try await response.body.write(to: folder.path + "/file") { heard.add($0) }
        #expect(count == UInt64(size))
        #expect(try isPattern(folder.read("file"), at: 0) && folder.names == ["file"])
        #expect(try folder.read("file").count == size)
        if size > 0 { #expect(heard.all.last == TransferProgress(bytes: UInt64(size), total: UInt64(size))) }
        #expect(try await client.get(server.http()).isReused)
    }

    @Test("A downloaded file has the requested permissions")
    func mode() async throws {
        let folder = try TemporaryFolder()
        let server = try FixtureServer.start { _ in .text("secret") }
        try await HTTPClient.untimed().send(Request(.get, server.http())).body.write(
            to: folder.path + "/file",
            mode: 0o600
        )
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/file")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("A link at the path stays, and its target is replaced and keeps its permissions")
    func linked() async throws {
        let folder = try TemporaryFolder()
        let name = String(repeating: "n", count: 255)
        try folder.write("old", name)
        chmod(folder.path + "/" + name, 0o600)
        symlink(name, folder.path + "/link")
        let server = try FixtureServer.start { _ in .text("new") }
        let response = try await HTTPClient.untimed().send(Request(.get, server.http()))
        try await response.body.write(to: folder.path + "/link")
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/" + name)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try folder.read(name) == Array("new".utf8) && folder.names == ["link", name])
    }

    @Test("A device is written to and stays one, and a pipe is an error")
    func device() async throws {
        let folder = try TemporaryFolder()
        let server = try FixtureServer.start { _ in .text("new") }
        let client = HTTPClient.untimed()
        let response = try await client.send(Request(.get, server.http()))
        #expect(try await response.body.write(to: "/dev/null") == 3)
        let kind = try FileManager.default.attributesOfItem(atPath: "/dev/null")[.type] as? FileAttributeType
        #expect(kind == .typeCharacterSpecial)
        mkfifo(folder.path + "/pipe", 0o600)
        let other = try await client.send(Request(.get, server.http()))
        let error = try await httpError { try await other.body.write(to: folder.path + "/pipe") }
        #expect(error.systemError?.code == EINVAL && folder.names == ["pipe"])
    }

    @Test("A failed download leaves the old file unchanged, and no other file", arguments: [true, false])
    func failure(isCut: Bool) async throws {
        let folder = try TemporaryFolder()
        try folder.write("old", "file")
        let server = try FixtureServer.start { _ in
            let content = [UInt8](repeating: 1, count: 3_000_000)
            return isCut ? .bytes(content, ["Content-Length": "3000001"]).then(.cut) : .bytes(content)
        }
        let response = try await HTTPClient.untimed().send(Request(.get, server.http()))
        let error = try await httpError {
            try await response.body.write(to: folder.path + "/file", upTo: isCut ? .max : 2_999_999)
        }
        switch error.reason {
        case .http where isCut: break
        case .bodyTooLarge where !isCut: break
        default: throw error
        }
        #expect(folder.names == ["file"])
        #expect(try folder.read("file") == Array("old".utf8))
        #expect(try await server.nextRecord().end != nil)
    }

    @Test("A cancelled download leaves no file, and ends soon")
    func cancelled() async throws {
        let folder = try TemporaryFolder()
        let never = Gate()
        let server = try FixtureServer.start { _ in
            .written(length: 4_000_000, framing: .length) { writer in
                try writer.write([UInt8](repeating: 1, count: 2_000_000))
                try writer.wait(for: never)
            }
        }
        let hasBegun = Heard<UInt64>()
        let (signals, signal) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await HTTPClient.untimed().send(Request(.get, server.http())).body.write(
                to: folder.path + "/file"
            ) {
                hasBegun.add($0.bytes)
                if $0.bytes == 2_000_000 { signal.yield() }
            }
        }
        for await _ in signals { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(folder.names.isEmpty)
        never.open()
    }

    @Test("A missing folder is an error of the system, and the response is abandoned")
    func noFolder() async throws {
        let folder = try TemporaryFolder()
        let server = try FixtureServer.start { _ in .pattern(count: 1 << 30) }
        let response = try await HTTPClient.untimed().send(Request(.get, server.http()))
        let error = try await httpError { try await response.body.write(to: folder.path + "/none/file") }
        #expect(error.systemError?.code == ENOENT && error.endpoint == server.endpoint)
        #expect(try await server.nextRecord().end != nil)
        let again = try await httpError { try await response.body.collect(upTo: 10) }
        guard case .bodyAlreadyRead = again.reason else { throw again }
    }
}
