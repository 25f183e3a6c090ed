internal import CSimulation
internal import DirectCore
internal import DirectHTTP
internal import DirectResolvers

/// A run of the program: what it has in memory, and what it has found in files.
final class ProgramRun: @unchecked Sendable {
    let number: Int
    let begin: UInt64
    /// The beginning of the names of its files. After a power failure the program finds a copy.
    let prefix: String
    let cookies = CookieJar()
    let hsts = HSTSStore()
    var cache: ResponseCache?
    /// The cache of the resolvers' answers, if they are kept.
    var answers: CachingResolver?
    /// What the cache has reported when the run's calls were over.
    private(set) var cacheFaults: [CacheError] = []
    /// What it has read from its files.
    var foundCookies = ""
    var foundHSTS = ""
    /// When it began to save its files for the last time, all its calls being over.
    var saved: UInt64?
    /// Whether its last call has ended, or the power has failed.
    var isOver = false
    var hasFailed = false

    init(number: Int, prefix: String, begin: UInt64) {
        self.number = number
        self.prefix = prefix
        self.begin = begin
    }

    /// Closes the folder of the cache, when the client has gone.
    func close() {
        cacheFaults = cache?.faults ?? []
        (cache, answers) = (nil, nil)
    }

    /// The state files, and the folder of the cache.
    var cookiePath: String { prefix + "cookies" }
    var hstsPath: String { prefix + "hsts" }
    var answersPath: String { prefix + "answers" }
    var cachePath: String { prefix + "cache" }
}
