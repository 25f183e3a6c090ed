import DirectCore
@testable import DirectIO
import DirectTestCommands
import DirectTestTime
@testable import DirectTransport
import Foundation
import Testing

@testable import DirectHTTP

@Suite("Marks of a cache folder", .idleLimit)
struct CacheMarksTests {
    private let folder = TemporaryFolder.planned()

    private func cache() throws -> ResponseCache {
        try .directory(folder.path, .init(bytes: 32 << 20, objectBytes: 8 << 20))
    }

    private func send(_ cache: ResponseCache, _ method: HTTPMethod, vary: String? = nil, body: UInt8 = 1)
        async throws
    {
        let request = Request(method, try HTTPURL("https://a.test/x"))
        let response = try await cache.send(request) { request, _ in
            var headers: HTTPHeaders = ["Cache-Control": "max-age=1000"]
            if let vary { headers["Vary"] = vary }
            return try Response(to: request, .ok, headers: headers, body: [body])
        }
        _ = try await response.body.collect(upTo: 10)
    }

    /// The content that the cache has; `nil` if it asks the origin.
    private func kept(_ cache: ResponseCache) async throws -> [UInt8]? {
        let url = try HTTPURL("https://a.test/x")
        let request = Request(.get, url, headers: ["Cache-Control": "only-if-cached"])
        let response = try await cache.send(request) { request, _ in try Response(to: request, 504) }
        return response.cacheUse == .hit ? try await response.body.collect(upTo: 10) : nil
    }

    private func contents() throws -> [String: [UInt8]] {
        try Dictionary(
            uniqueKeysWithValues: folder.names.filter { ![.marks, .key].contains(CacheFileKind($0)) }.map {
                ($0, try folder.read($0))
            }
        )
    }

    private func write(_ files: [String: [UInt8]]) throws {
        for (name, bytes) in files {
            try Data(bytes).write(to: URL(filePath: folder.path).appending(path: name))
            chmod(folder.path + "/" + name, 0o600)
        }
    }

    @Test(
        "What a process that was stopped puts back after a change is not used: neither a response nor an index with its variants",
        arguments: [nil, "Accept-Language"] as [String?],
        ["PUT", "another cache's PUT", "removal", "removal of all"]
    )
    func stopped(vary: String?, change: String) async throws {
        let (cache, other) = (try cache(), try cache())
        try await send(cache, .get, vary: vary)
        let old = try contents()
        #expect(try await kept(cache) == [1] && old.count == (vary == nil ? 1 : 2))
        switch change {
        case "PUT": try await send(cache, .put)
        case "removal": await cache.remove(try HTTPURL("https://a.test/x"))
        case "removal of all": await cache.removeAll()
        default: try await send(other, .put)
        }
        try write(old)
        for cache in [cache, other, try self.cache()] { #expect(try await kept(cache) == nil) }
        try await send(other, .get, vary: vary, body: 2)
        for cache in [cache, other] { #expect(try await kept(cache) == [2]) }
        // Nor does it replace what came since.
        let new = try contents()
        try write(old)
        #expect(try await kept(cache) == nil)
        try write(new)
        #expect(try await kept(cache) == [2] && cache.faults == [])
    }

    @Test("A head that is replaced at the last moment does not bring a removed response back")
    func replacedHead() async throws {
        let (cache, other) = (try cache(), try cache())
        try await send(cache, .get)
        let store = try #require(cache.store as? DirectoryStore)
        let key = try #require(CacheKey(try HTTPURL("https://a.test/x")))
        let fields = VaryFields(headers: [:], defaults: [:])
        let entry = try #require(try await store.find(key, fields: fields, wait: .unlimited))
        let old = try contents()
        try await send(other, .put)
        // The file is there again, as it is for a process that has looked before the change.
        try write(old)
        await store.replaceHead(entry, with: entry.head, wait: .unlimited)
        #expect(try await kept(cache) == nil)
    }

    @Test("A removal that fails is reported, and made up for before the response could be used again")
    func failedRemoval() async throws {
        let (cache, other) = (try cache(), try cache())
        try await send(cache, .get)
        let old = try contents()
        let (marks, aside) = (folder.path + "/" + CacheMarks.fileName, folder.path + "/aside")
        for isAll in [false, true] {
            // A folder in its place: no call writes to that, for root either.
            rename(marks, aside)
            mkdir(marks, 0o700)
            if isAll { await cache.removeAll() } else { try await send(cache, .put) }
            #expect(cache.faults.contains { if case .file = $0 { true } else { false } })
            rmdir(marks)
            rename(aside, marks)
            try write(old)
            // Whichever cache of the process comes first.
            for cache in isAll ? [cache, other] : [other, cache] { #expect(try await kept(cache) == nil) }
            try await send(cache, .get)
        }
        try await send(cache, .get, body: 2)
        #expect(try await kept(cache) == [1])
    }

    @Test("A removal that its disk does not come to is reported, and counts from its beginning")
    func hangingRemoval() async throws {
        let gate = DiskGate()
        defer { gate.open() }
        let work = BlockingWork(threadLimit: 1)
        let hung = try DirectoryStore(
            path: folder.path,
            limits: .init(bytes: 32 << 20, objectBytes: 8 << 20),
            work: work
        )
        let cache = try cache()
        try await send(cache, .get)
        #expect(try await kept(cache) == [1])
        await work.stop(until: gate)
        let key = try #require(CacheKey(HTTPURL("https://a.test/x")))
        await hung.remove(key, wait: DiskWait(within: .none, name: nil, loop: .shared, patience: 1))
        #expect(hung.faults == [CacheError.file(.silent)])
        #expect(try await kept(cache) == nil)
        // Nothing waits for that disk until it has come back: a wait would be over at once.
        let over = CallLimit(Timeouts(total: .milliseconds(1)).nanoseconds, until: .now)
        let fields = VaryFields(headers: [:], defaults: [:]),
            wait = DiskWait(within: over, name: nil, loop: .shared)
        #expect(try await hung.find(key, fields: fields, wait: wait) == nil)
        #expect(try await hung.mark(key, wait: wait) == nil)
    }

    @Test("Without the file of the marks, or with a damaged one, no response is used that was there before")
    func lostMarks() async throws {
        for loss in 0..<3 {
            let cache = try cache()
            try await send(cache, .get)
            #expect(try await kept(cache) == [1])
            let marks = folder.path + "/" + CacheMarks.fileName
            switch loss {
            case 0: unlink(marks)
            case 1: truncate(marks, 0)
            default: try Data([UInt8](repeating: 7, count: 1 << 19)).write(to: URL(filePath: marks))
            }
            if loss == 2 { chmod(marks, 0o600) }
            #expect(try await kept(cache) == nil)
            try await send(cache, .get, body: 2)
            #expect(try await kept(self.cache()) == [2])
            await cache.removeAll()
        }
    }

    @Test("A response of an older version is replaced without a report, one of a newer version is left alone")
    func versions() async throws {
        for vary in [nil, "Accept-Language"] {
            for version in ["1", "9"] {
                let cache = try cache()
                try await send(cache, .get, vary: vary)
                let files = try contents().mapValues { Array($0[..<7]) + Array(version.utf8) + $0[8...] }
                try write(files)
                #expect(try await kept(cache) == nil && cache.faults == [])
                try await send(cache, .get, vary: vary, body: 2)
                #expect(try await kept(cache) == (version == "1" ? [2] : nil))
                if version == "9" { #expect(try contents() == files) }
                await cache.removeAll()
            }
        }
    }
}
