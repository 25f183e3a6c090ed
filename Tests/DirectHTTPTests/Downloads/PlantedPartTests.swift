import DirectCore
import DirectTLS
import DirectTestCommands
import Foundation
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Downloads where others may write", .idleLimit)
struct PlantedPartTests {
    private let folder: TemporaryFolder
    private let content = pattern(at: 0, count: 300_000)

    init() throws {
        folder = try TemporaryFolder()
    }

    private var path: String { folder.path + "/film" }

    /// Plants the beginning of a download: a part with other bytes, and a record that fits it.
    private func plant(_ url: String) throws {
        let evil = [UInt8](repeating: 0x45, count: 1000)
        let whole = Representation(url: try HTTPURL(url), validator: .entityTag("\"1\""), length: 300_000)
        let digest = try #require(MessageDigest.sha256.digest(of: evil))
        let record = try #require(DownloadRecord(whole, savedBytes: 1000, digest: digest)?.bytes)
        try plantDownload(to: path, evil, record: record)
    }

    private func attributes(_ name: String) throws -> (mode: Int?, owner: Int?) {
        let all = try FileManager.default.attributesOfItem(atPath: folder.path + "/" + name)
        return (all[.posixPermissions] as? Int, all[.ownerAccountID] as? Int)
    }

    @Test("What a part begins with that others can write to, or that has another name, is not used")
    func planted() async throws {
        for (file, change) in [
            (".part", { chmod($0, 0o666) }), (".part.info", { chmod($0, 0o622) }),
            (".part", { link($0, $0 + "-other") }),
        ] as [(String, (String) -> Int32)] {
            let resource = Resource(content)
            let server = try resource.server()
            try plant(server.http("/film"))
            #expect(change(path + file) == 0)
            let names = folder.names
            let result = try await HTTPClient.downloading().download(server.http("/film"), to: path)
            #expect(try folder.read("film") == content && resource.ranges == [nil])
            #expect(try result.resumedBytes == 0 && attributes("film").owner == Int(geteuid()))
            #expect(folder.names == ["film"] + names)
            for name in folder.names { unlink(folder.path + "/" + name) }
        }
    }

    @Test(
        "Another user's part is not used, and the file belongs to who downloads it",
        .enabled(if: geteuid() == 0)
    )
    func foreign() async throws {
        chmod(folder.path, 0o1777)
        for isTargetForeign in [false, true] {
            let resource = Resource(content)
            let server = try resource.server()
            try plant(server.http("/film"))
            if isTargetForeign { try folder.write("planted", "film") }
            for name in folder.names {
                chown(folder.path + "/" + name, 1234, 1234)
                chmod(folder.path + "/" + name, 0o666)
            }
            var options = DownloadOptions()
            options.mode = 0o600
            try await HTTPClient.downloading().download(server.http("/film"), to: path, options: options)
            #expect(try folder.read("film") == content && resource.ranges == [nil])
            #expect(try attributes("film") == (0o600, 0))
            for name in folder.names { unlink(folder.path + "/" + name) }
        }
    }

    @Test("A download beside another's part goes on within the call, and leaves nothing when it fails")
    func beside() async throws {
        symlink("nowhere", path + ".part")
        for isGood in [true, false] {
            let fault: Resource.Fault = .cut(after: 100_000)
            let resource = Resource(content, faults: isGood ? [fault] : [fault, .reply(.status(404))])
            let server = try resource.server()
            let result = try? await HTTPClient.downloading().download(server.http(), to: path)
            #expect(resource.ranges == [nil, "bytes=100000-"] && (result != nil) == isGood)
            #expect(folder.names == (isGood ? ["film", "film.part"] : ["film.part"]))
            unlink(path)
        }
    }

    @Test("A part is its owner's only, and a part that others could read becomes a file as it was asked for")
    func modes() async throws {
        let resource = Resource(content, faults: [.cut(after: 100_000), .reply(.status(404))])
        let server = try resource.server()
        let client = HTTPClient.downloading()
        var options = DownloadOptions()
        _ = try await httpError { [options] in
            try await client.download(server.http(), to: path, options: options)
        }
        #expect(try attributes("film.part").mode == 0o600)
        chmod(path + ".part", 0o644)
        options.mode = 0o600
        let result = try await client.download(server.http(), to: path, options: options)
        #expect(try result.resumedBytes == 100_000 && attributes("film").mode == 0o600)
    }

    @Test("A name of any length is downloaded to and continued", arguments: [223, 245, 246, 255])
    func names(length: Int) async throws {
        let resource = Resource(content, faults: [.cut(after: 100_000), .reply(.status(404))])
        let server = try resource.server()
        let name = String(repeating: "é", count: length / 2) + (length % 2 == 1 ? "x" : "")
        let client = HTTPClient.downloading()
        _ = try await httpError { try await client.download(server.http(), to: folder.path + "/" + name) }
        #expect(folder.names.count == 2 && folder.names.allSatisfy { $0.utf8.count <= 255 })
        let result = try await client.download(server.http(), to: folder.path + "/" + name)
        #expect(try folder.read(name) == content && folder.names == [name] && result.resumedBytes == 100_000)
    }

    @Test("A link at the path stays, and its target is downloaded")
    func linked() async throws {
        let resource = Resource(content)
        let server = try resource.server()
        symlink("other", path)
        try await HTTPClient.downloading().download(server.http(), to: path)
        #expect(try folder.read("other") == content && folder.names == ["film", "other"])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == "other")
    }
}
