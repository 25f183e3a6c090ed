internal import DirectIO

/// Which of several servers is asked next: the one that answered last, and those that failed at the end.
struct ServerRotation: Sendable {
    private var preferred = 0
    /// Until when each counts as bad.
    private var badUntil: [Instant]
    private let badTime: UInt64

    init(count: Int, badTime: UInt64) {
        badUntil = Array(repeating: Instant(nanoseconds: 0), count: count)
        self.badTime = badTime
    }

    /// All servers, each once, the best first. Bad ones are the last resort, not banned.
    func order(at now: Instant) -> [Int] {
        let all = badUntil.indices.map { (preferred + $0) % badUntil.count }
        let good = all.filter { badUntil[$0] <= now }
        let bad = all.filter { badUntil[$0] > now }.sorted { badUntil[$0] < badUntil[$1] }
        return good + bad
    }

    mutating func forgetAll() {
        self = ServerRotation(count: badUntil.count, badTime: badTime)
    }

    mutating func noteSuccess(of server: Int) {
        preferred = server
        badUntil[server] = Instant(nanoseconds: 0)
    }

    mutating func noteFailure(of server: Int, at now: Instant) {
        badUntil[server] = now.advanced(byNanoseconds: badTime)
        // Without this the order would begin anew at a server that has failed once its time is over.
        if preferred == server { preferred = (server + 1) % badUntil.count }
    }
}
