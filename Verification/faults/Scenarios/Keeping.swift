internal import CommandKit
internal import DirectCore
internal import DirectHTTP
internal import DirectIO

/// Scenarios of what the client keeps: caches, cookies and HSTS.
extension Scenario {
    static let keeping = [memoryCache, cacheFolder, cacheRemoval, cacheChange, cookieFile, hstsFile]

    private static let memoryCache = Scenario(name: "cache in memory") { work in
        let client = try work.client { $0.cache = .memory() }
        try await useCache(of: client, in: work)
    }

    private static let cacheFolder = Scenario(
        name: "cache in a folder",
        perform: { work in
            let cache = try work.cache ?? ResponseCache.directory("\(work.folder)/cache")
            work.cache = cache
            let client = try work.client { $0.cache = cache }
            try await useCache(of: client, in: work)
        },
        inspect: { work in strayFiles(in: "\(work.folder)/cache") }
    )

    private static func useCache(of client: HTTPClient, in work: ScenarioRun) async throws {
        for _ in 0..<2 { try await client.fetchLarge(work.plain("/cached")) }
        for _ in 0..<2 { try await client.fetchSmall(work.plain("/checked")) }
        for _ in 0..<2 { try await client.fetchSmall(work.plain("/varied")) }
        await client.configuration.cache?.settle()
    }

    /// What was removed is gone, or the cache reports that it is not.
    private static let cacheRemoval = Scenario(
        name: "removal from a cache",
        perform: { work in
            let cache = try work.cache ?? ResponseCache.directory("\(work.folder)/cache")
            work.cache = cache
            let client = try work.client { $0.cache = cache }
            try await client.fetchSmall(work.plain("/varied"))
            await cache.settle()
            let before = cache.faults.count
            await cache.removeAll()
            let isReported = cache.faults.count > before
            let left = Files.allNames(in: "\(work.folder)/cache").filter { $0.hasSuffix(".r") }
            try expect(
                left.isEmpty || isReported,
                "a response was not removed, and the cache does not report it"
            )
        },
        functions: ["unlinkat", "openat", "fdopendir", "readdir", "fstatat", "pwrite", "ftruncate"]
    )

    /// No response from before a change is used after it: a plain one, one that depends on the request, and
    /// one that is confirmed.
    private static let cacheChange = Scenario(
        name: "change beside a cache",
        perform: { work in
            let cache = try work.cache ?? ResponseCache.directory("\(work.folder)/cache")
            work.cache = cache
            let client = try work.client { $0.cache = cache }
            for _ in 0..<2 {
                for path in versions { _ = try await client.get(work.plain("\(path)?\(work.number)")) }
            }
        },
        leavesFiles: true,
        beside: { work in
            // In this process the clients of all these uses are the same, and the cache is opened anew.
            let cache = try ResponseCache.directory("\(work.folder)/cache")
            var settings = try work.client().configuration
            settings.cache = cache
            let client = HTTPClient(settings)
            for path in versions {
                let url = work.plain("\(path)?\(work.number)")
                let before = try await work.client().get(url).text
                try expect(try await client.get(url).text == before, "a response from before a change")
                let after = try await client.fetch(HTTPClient.Request(.put, url)).text
                for _ in 0..<2 {
                    try expect(try await client.get(url).text == after, "a response from before a change")
                }
            }
            try expect(cache.faults.isEmpty, "\(cache.faults)")
        },
        functions: ["linkat", "pwrite"]
    )

    private static let versions = ["/versions/plain", "/versions/varied", "/versions/checked"]

    private static let cookieFile = Scenario(
        name: "cookie file",
        prepare: { work in try Files.write(Array(cookies("old").utf8), to: "\(work.folder)/cookies") },
        perform: { work in
            let jar = CookieJar()
            let faults = try await jar.load(from: "\(work.folder)/cookies")
            try expect(faults.isEmpty && jar.cookies.count >= 500, "\(jar.cookies.count) cookies were read")
            let client = try work.client { $0.cookies = jar }
            _ = try await client.get(work.plain("/cookie"))
            try await jar.save(to: "\(work.folder)/cookies")
        },
        again: { work in try await CookieJar().save(to: "\(work.folder)/other") },
        inspect: { work in
            let jar = CookieJar()
            let faults = jar.add(content: Files.read("\(work.folder)/cookies") ?? [])
            let isWhole = faults.isEmpty && jar.cookies.count >= 500
            return isWhole ? [] : ["the file has \(jar.cookies.count) cookies and \(faults.count) faults"]
        },
        leavesFiles: true
    )

    /// More than one piece of a file: 500 cookies in the format of Netscape.
    private static func cookies(_ value: String) -> String {
        let padding = String(repeating: "x", count: 200)
        return (0..<500).map {
            "host\($0).test\tFALSE\t/\tFALSE\t4000000000\tname\t\(value)\(padding)\n"
        }.joined()
    }

    private static let hstsFile = Scenario(
        name: "HSTS file",
        prepare: { work in
            try Files.write(Array("old.test \"20990101 00:00:00\"\n".utf8), to: "\(work.folder)/hsts")
        },
        perform: { work in
            let store = HSTSStore()
            let faults = try await store.load(from: "\(work.folder)/hsts")
            try expect(faults.isEmpty && store.entries.count == 1, "\(store.entries.count) names were read")
            let client = try work.client { $0.hsts = store }
            try await client.fetchSmall(work.secure("/strict"))
            try await store.save(to: "\(work.folder)/hsts")
        },
        again: { work in try await HSTSStore().save(to: "\(work.folder)/other") },
        inspect: { work in
            let store = HSTSStore()
            let faults = store.add(content: Files.read("\(work.folder)/hsts") ?? [])
            return faults.isEmpty && !store.entries.isEmpty
                ? [] : ["the file has \(store.entries.count) names"]
        }
    )

    private static func strayFiles(in folder: String) -> [String] {
        Files.allNames(in: folder).filter { $0.contains(".direct-http") }.map { "\($0) is left in the cache" }
    }
}
