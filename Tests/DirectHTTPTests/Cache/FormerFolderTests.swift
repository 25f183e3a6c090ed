import DirectHTTP1
import DirectIO
import DirectTestCommands
import Foundation
import Testing

@testable import DirectHTTP

@Suite("A cache folder of the former format", .idleLimit)
struct FormerFolderTests {
    private let folder: TemporaryFolder
    private let script = Script((200, ["Cache-Control": "private, max-age=1000"]))

    init() throws {
        folder = try TemporaryFolder()
        for (name, text) in FormerFolder.files {
            let bytes = try #require(Data(base64Encoded: text))
            try bytes.write(to: url(name))
        }
    }

    private func url(_ name: String) -> URL { URL(filePath: folder.path).appending(path: name) }

    /// What a client gets from a folder for all of its URLs, with all that ever selected one of them.
    private func uses(_ cache: ResponseCache) async throws -> [CacheUse?] {
        var uses: [CacheUse?] = []
        for jar in [CookieJar(), nil] {
            let client = script.client { ($0.cache, $0.cookies) = (cache, jar) }
            for path in ["alice", "plain", "vary", "basic", "cookie"] {
                var fields: HTTPHeaders = ["Accept-Language": "en"]
                if path == "basic" { fields["Authorization"] = "Basic YTpi" }
                if path == "cookie" { fields["Cookie"] = "sid=carol" }
                uses.append(try await client.get("https://old.test/\(path)", headers: fields).cacheUse)
            }
        }
        return uses
    }

    private let misses = [CacheUse?](repeating: .miss, count: 10)

    private func encoded(_ name: String) -> String? { try? Data(contentsOf: url(name)).base64EncodedString() }

    @Test("It gives nothing to anyone, is emptied without a report, and works from then on")
    func whole() async throws {
        // One thread: what looks for a response comes after what empties the folder.
        let work = BlockingWork(threadLimit: 1)
        let cache = try ResponseCache(folder: folder.path, work: work) { .now }
        #expect(try await uses(cache) == misses)
        #expect(cache.faults == [])
        for (name, content) in FormerFolder.files {
            #expect(encoded(name) != content)
        }
        let client = script.client { $0.cache = cache }
        #expect(try await client.get("https://old.test/plain").cacheUse == .hit)
    }

    @Test("So it does if the program that began to empty it was killed, at any file")
    func halfEmptied() async throws {
        let names = FormerFolder.files.keys.sorted()
        // With the key another process has begun; what it did not come to is still there.
        try Data((0..<32).map { UInt8($0) }).write(to: url(CacheFileKind.keyName))
        for name in names.prefix(names.count / 2) { try FileManager.default.removeItem(at: url(name)) }
        let cache = try ResponseCache.directory(folder.path)
        #expect(try await uses(cache) == misses)
        #expect(cache.faults == [])
    }

    @Test("Files that its writer left half written are removed", arguments: [7, 8, 20, 60, 200])
    func halfWritten(length: Int) async throws {
        for name in FormerFolder.files.keys {
            let bytes = try Data(contentsOf: url(name))
            try bytes.prefix(length).write(to: url(name))
        }
        let cache = try ResponseCache.directory(folder.path)
        #expect(try await uses(cache) == misses)
        // Shorter than the word that tells the format they are damaged, and reported as such.
        #expect(cache.faults.isEmpty == (length >= 8))
        let again = try ResponseCache.directory(folder.path)
        let client = script.client { $0.cache = again }
        #expect(try await client.get("https://old.test/plain").cacheUse == .hit)
    }

    @Test("A key that was cut is made anew, and what depended on the former one is lost")
    func cutKey() async throws {
        let login: HTTPHeaders = ["Authorization": "Basic YTpi"]
        func use() async throws -> CacheUse? {
            let cache = try ResponseCache.directory(folder.path)
            return try await script.client { $0.cache = cache }.get("https://new.test/", headers: login)
                .cacheUse
        }
        #expect(try await use() == .miss)
        #expect(try await use() == .hit)
        try Data((0..<31).map { UInt8($0) }).write(to: url(CacheFileKind.keyName))
        #expect(try await use() == .miss)
        #expect(try await use() == .hit)
    }

    @Test("What was stored for a login has another digest in each folder, and no file contains it")
    func keyedDigest() async throws {
        let other = try TemporaryFolder()
        var digests: [Digest128] = []
        for folder in [folder, other] {
            let cache = try ResponseCache.directory(folder.path)
            let client = script.client { $0.cache = cache }
            _ = try await client.get("https://new.test/", headers: ["Authorization": "Basic YTpi"])
            let stem = try #require(CacheKey(HTTPURL("https://new.test/"))).digest.text
            let name = try #require(folder.names.first { $0.hasPrefix(stem + "-") })
            let bytes = try folder.read(name)
            let size = try #require(EntryFile.frontSize(bytes))
            let front = try #require(EntryFile.front(Array(bytes.prefix(size)), fileSize: bytes.count))
            digests.append(front.variant.digest)
            #expect(!String(decoding: bytes, as: UTF8.self).contains("YTpi"))
            let names = VaryNames(names: [VaryNames.asker])
            let fields = VaryFields(
                headers: [:],
                defaults: [:],
                asker: Asker(["Authorization": "Basic YTpi"])
            )
            #expect(digests.last != CacheVariant(names, fields, key: [])?.digest)
            let key = try folder.read(CacheFileKind.keyName)
            #expect(digests.last == CacheVariant(names, fields, key: key)?.digest)
        }
        #expect(digests[0] != digests[1])
    }
}
