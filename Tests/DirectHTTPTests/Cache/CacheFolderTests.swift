import DirectTestResolvers
@testable import DirectCore
import DirectTestCommands
@testable import DirectTransport
import Foundation
import Testing

@testable import DirectHTTP

@Suite("A cache in a folder", .idleLimit)
struct CacheFolderTests {
    private let folder = TemporaryFolder.planned()

    private func cache(_ limits: CacheLimits? = nil) throws -> ResponseCache {
        try .directory(folder.path, limits ?? .init(bytes: 32 << 20, objectBytes: 8 << 20))
    }

    /// The content that the cache has for that path; nothing if it asks the origin.
    private func kept(_ cache: ResponseCache, _ path: String) async throws -> [UInt8]? {
        let url = try HTTPURL("https://a.test/\(path)")
        let request = Request(.get, url, headers: ["Cache-Control": "only-if-cached"])
        let response = try await cache.send(request) { _, _ in throw Unreachable() }
        return response.cacheUse == .hit ? try await response.body.collect(upTo: 64 << 20) : nil
    }

    private func keep(_ cache: ResponseCache, _ path: String, _ body: [UInt8], headers: HTTPHeaders = [:])
        async throws
    {
        let url = try HTTPURL("https://a.test/\(path)")
        let response = try await cache.send(Request(.get, url)) { request, _ in
            var headers = headers
            headers["Cache-Control"] = "max-age=1000"
            return try Response(to: request, .ok, headers: headers, body: body)
        }
        _ = try await response.body.collect(upTo: 64 << 20)
    }

    /// The names of the files, without the marks of URLs and the key of the folder.
    private var files: [String] { folder.names.filter { ![.marks, .key].contains(CacheFileKind($0)) } }

    private struct Unreachable: Error {}

    private func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: folder.path).appending(path: name)))
    }

    private func write(_ bytes: [UInt8], _ name: String) throws {
        try Data(bytes).write(to: URL(filePath: folder.path).appending(path: name))
    }

    @Test("A change by another process prevents a response to an earlier request from appearing")
    func changeByAnother() async throws {
        // Two objects read and write the files as two processes do.
        let (own, other) = (try cache(), try cache())
        let url = try HTTPURL("https://a.test/x")
        for change in 0..<3 {
            let response = try await own.send(Request(.get, url, headers: ["Cache-Control": "no-cache"])) {
                request,
                _ in
                let pieces = AsyncThrowingStream<[UInt8], any Error> { pieces in
                    pieces.yield([1])
                    pieces.finish()
                }
                let headers: HTTPHeaders = ["Cache-Control": "max-age=1000"]
                return try Response(to: request, .ok, headers: headers, stream: pieces)
            }
            switch change {
            case 0:
                _ = try await other.send(Request(.put, url)) { request, _ in try Response(to: request, .ok) }
            case 1: await other.removeAll()
            default: break
            }
            #expect(try await response.body.collect(upTo: 10) == [1])
            for cache in [own, other] { #expect(try await kept(cache, "x") == (change == 2 ? [1] : nil)) }
        }
        #expect(own.faults == [] && other.faults == [])
    }

    @Test("A cache folder is found again by the next process, and shared with a concurrent one")
    func shared() async throws {
        let (first, beside) = (try cache(), try cache())
        for size in [0, 1, 65_535, 65_536, 65_537, 300_000] {
            try await keep(first, "\(size)", pattern(at: 0, count: size), headers: ["X-A": "\(size)"])
            #expect(
                try await kept(beside, "\(size)").map { isPattern($0, at: 0) && $0.count == size } == true
            )
            #expect(try await kept(cache(), "\(size)")?.count == size)
        }
        #expect(beside.faults == [] && first.faults == [])
    }

    @Test("A response in a folder is as old for the next process as when it came")
    func age() async throws {
        func cache(after seconds: Int64) throws -> ResponseCache {
            try ResponseCache(folder: folder.path, work: BlockingWork(threadLimit: 1)) {
                UnixTime(seconds: 1_000_000_000 + seconds)
            }
        }
        try await keep(cache(after: 0), "x", [1])
        #expect(try await kept(cache(after: 999), "x") == [1])
        #expect(try await kept(cache(after: 1000), "x") == nil)
    }

    @Test("A cache folder is readable only by its owner, and its files reveal no URLs")
    func secrecy() async throws {
        let cache = try cache()
        try await keep(cache, "path?token=secret", [1])
        let manager = FileManager.default
        #expect(try manager.attributesOfItem(atPath: folder.path)[.posixPermissions] as? Int == 0o700)
        for name in files + [CacheFileKind.keyName] {
            let path = folder.path + "/" + name
            #expect(try manager.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
            #expect(try !String(decoding: bytes(name), as: UTF8.self).contains("secret"))
        }
    }

    @Test("A folder that others may write to is refused")
    func unsafeFolder() throws {
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
        #expect(throws: CacheError.self) { _ = try cache() }
        #expect(throws: CacheError.self) { _ = try ResponseCache.directory(folder.path + "/no/parent") }
    }

    @Test("A file with any byte changed, or cut anywhere, is never used")
    func damage() async throws {
        try await keep(cache(), "a", Array("content".utf8), headers: ["X-A": "1"])
        let name = try #require(files.first)
        let whole = try bytes(name)
        for position in whole.indices {
            var changed = whole
            changed[position] ^= 0x20
            try write(changed, name)
            let cache = try cache()
            #expect(try await kept(cache, "a") == nil, "changed at \(position)")
            #expect(cache.faults == [.damaged(file: name)])
            #expect(files == [])
            try write(Array(whole[..<position]), name)
            #expect(try await kept(self.cache(), "a") == nil, "cut at \(position)")
        }
        try write(whole + [0], name)
        #expect(try await kept(cache(), "a") == nil)
        try write(whole, name)
        #expect(try await kept(cache(), "a") == Array("content".utf8))
    }

    @Test("Damage in the middle of a large content is found when it is read")
    func lateDamage() async throws {
        try await keep(cache(), "a", pattern(at: 0, count: 300_000))
        let name = try #require(files.first)
        var changed = try bytes(name)
        changed[250_000] ^= 1
        try write(changed, name)
        let cache = try cache()
        await #expect(throws: HTTPError.self) { _ = try await kept(cache, "a") }
        #expect(cache.faults == [.damaged(file: name)])
        #expect(try await kept(cache, "a") == nil)
    }

    @Test("A file of another name is not used, and links are not followed")
    func foreignNames() async throws {
        try await keep(cache(), "a", [1])
        let name = try #require(files.first)
        try await keep(cache(), "b", [2])
        let other = try #require(files.first { $0 != name })
        try write(bytes(name), other)
        #expect(try await kept(cache(), "b") == nil)
        let (target, content) = (folder.path + "/elsewhere", try bytes(name))
        try FileManager.default.moveItem(atPath: folder.path + "/" + name, toPath: target)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/" + name,
            withDestinationPath: target
        )
        let cache = try cache()
        #expect(try await kept(cache, "a") == nil)
        try await keep(cache, "a", [3])
        #expect(try await kept(cache, "a") == [3])
        #expect(try bytes("elsewhere") == content)
    }

    @Test("Other files in the folder remain, and abandoned drafts are removed")
    func sweeping() async throws {
        let cache = try cache()
        try await keep(cache, "a", [1])
        let (left, young) = (".0123456789abcdef.direct-http-0", ".fedcba9876543210.direct-http-0")
        for name in ["notes.txt", left, young] { try write([1, 2, 3], name) }
        let writer = open(folder.path + "/" + young, O_RDONLY)
        flock(writer, LOCK_EX)
        await (cache.store as? DirectoryStore)?.sweep()
        close(writer)
        #expect(files.count == 3 && files.contains("notes.txt") && files.contains(young))
        #expect(cache.faults == [.foreign(file: "notes.txt")])
        await cache.removeAll()
        #expect(files == ["notes.txt"])
    }

    @Test("Files whose names another program may give stay as they are in whatever folder, and are reported")
    func namesOfOthers() async throws {
        mkdir(folder.path, 0o700)
        let names = ["0123456789abcdef.tmp", "be.m", "key", "marks"]
        for name in names { try write(Array("mine".utf8), name) }
        let cache = try cache()
        for path in ["a", "b"] { try await keep(cache, path, [1]) }
        let url = try HTTPURL("https://a.test/a")
        _ = try await cache.send(Request(.put, url)) { request, _ in try Response(to: request, .ok) }
        await (cache.store as? DirectoryStore)?.sweep()
        #expect(try await kept(cache, "a") == nil)
        #expect(try await kept(cache, "b") == [1])
        await cache.removeAll()
        #expect(files == names)
        for name in names { #expect(try bytes(name) == Array("mine".utf8)) }
        #expect(Set(cache.faults) == Set(names.map { CacheError.foreign(file: $0) }))
    }

    @Test("A response that cannot be removed is reported")
    func unremovable() async throws {
        let cache = try cache()
        // No call for files removes a folder.
        let name = String(repeating: "0", count: 32) + ".r"
        try FileManager.default.createDirectory(
            atPath: folder.path + "/" + name,
            withIntermediateDirectories: false
        )
        await cache.removeAll()
        #expect(files == [name])
        #expect(cache.faults.count == 1)
        guard case .file(let error)? = cache.faults.first else {
            Issue.record("\(cache.faults)")
            return
        }
        #expect(error.call == "unlink")
    }

    @Test("The folder stays within its limits, and drops the entries least recently used")
    func limits() async throws {
        let cache = try cache(.init(bytes: 200_000, objects: 1000, objectBytes: 50_000))
        for number in 0..<15 {
            try await keep(cache, "\(number)", pattern(at: 0, count: 10_000))
            let past = Date(timeIntervalSinceNow: Double(number * 10 - 10_000))
            for name in files {
                let path = folder.path + "/" + name
                let date = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
                guard let date, date.timeIntervalSinceNow > -100 else { continue }
                try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: path)
            }
        }
        // Looking at it makes it one that was used.
        #expect(try await kept(cache, "0") != nil)
        for number in 15..<25 { try await keep(cache, "\(number)", pattern(at: 0, count: 10_000)) }
        var total = 0
        for name in files { total += try bytes(name).count }
        #expect(total <= 200_000)
        #expect(try await kept(cache, "0") != nil)
        #expect(try await kept(cache, "1") == nil)
        try await keep(cache, "large", pattern(at: 0, count: 50_001))
        #expect(try await kept(cache, "large") == nil)
        await (cache.store as? DirectoryStore)?.sweep()
        #expect(!files.contains { $0.hasPrefix(".") })
    }

    @Test("The index of a response that depends on the request is as recently used as the response")
    func usedIndex() async throws {
        let cache = try cache(.init(bytes: 200_000, objects: 1000, objectBytes: 50_000))
        try await keep(cache, "hot", pattern(at: 0, count: 10_000), headers: ["Vary": "Accept-Language"])
        let names = files
        #expect(names.count == 2)
        for name in names {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -10_000)],
                ofItemAtPath: folder.path + "/" + name
            )
        }
        #expect(try await kept(cache, "hot") != nil)
        for number in 0..<15 {
            try await keep(cache, "\(number)", pattern(at: 0, count: 10_000))
            for name in files where !names.contains(name) {
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSinceNow: -5000)],
                    ofItemAtPath: folder.path + "/" + name
                )
            }
        }
        for number in 15..<25 { try await keep(cache, "\(number)", pattern(at: 0, count: 10_000)) }
        #expect(files.count < 27)
        #expect(try await kept(cache, "hot") != nil)
    }

    @Test("A folder that disappears is no error of the calls")
    func goneFolder() async throws {
        let cache = try cache()
        try await keep(cache, "a", [1])
        try FileManager.default.removeItem(atPath: folder.path)
        #expect(try await kept(cache, "a") == nil)
        try await keep(cache, "b", [1])
        #expect(try await kept(cache, "b") == nil)
        #expect(!cache.faults.isEmpty)
    }

    @Test("Any bytes in a file are read without a crash")
    func fuzz() {
        var generator = SystemRandomNumberGenerator()
        for count in 0..<400 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            #expect(EntryFile.front(bytes, fileSize: count) == nil)
            #expect(EntryFile.frontSize(bytes) == nil)
            #expect(VariantIndex(bytes, CacheKey(digest: Digest128(high: 1, low: 2))) == nil)
        }
    }

    @Test("Killed and concurrent writers leave only whole responses")
    func killed() async throws {
        let program = URL(filePath: try #require(Files.program)).deletingLastPathComponent()
            .appending(path: "suite-adapter").path(percentEncoded: false)
        try #require(FileManager.default.isExecutableFile(atPath: program))
        let path = folder.path
        // More of them by hand: DIRECT_HTTP_KILLS=500 swift test --filter CacheFolderTests
        let rounds = ProcessInfo.processInfo.environment["DIRECT_HTTP_KILLS"].flatMap { Int($0) } ?? 3
        for round in 0..<rounds {
            let writers = try (0..<2).map { _ in
                let ready = Pipe()
                let writer = try TestProcess(
                    program,
                    ["fill", path],
                    environment: ProcessInfo.processInfo.environment,
                    output: ready.fileHandleForWriting.fileDescriptor
                )
                try ready.fileHandleForWriting.close()
                return (writer, ready)
            }
            for (writer, ready) in writers {
                // So many lines of it: it is in the middle of its work, wherever that may be.
                try await onOwnThread {
                    var lines = 0
                    while lines < 20 * (round % 8 + 1) {
                        let data = ready.fileHandleForReading.availableData
                        guard !data.isEmpty else { break }
                        lines += data.count { $0 == 0x0a }
                    }
                }
                writer.kill()
                try await onOwnThread { _ = writer.waitForEnd() }
            }
            let cache = try cache()
            var found = 0
            for number in 0..<40 {
                guard let content = try await kept(cache, "\(number)") else { continue }
                found += 1
                #expect(isPattern(content, at: number))
            }
            #expect(found > 0)
            #expect(cache.faults == [])
            await (cache.store as? DirectoryStore)?.sweep()
        }
    }
}

private enum Files {
    /// The program that runs, beside which SwiftPM builds the others.
    static var program: String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    }
}
