internal import DirectCore
internal import DirectIO

/// The order in which servers are tried: the one that answered last comes first, failed ones come last.
struct ServerRotation: Sendable {
    private var preferred = 0
    /// The time until which each server counts as failed.
    private var badUntil: [Instant]
    private let badTime: UInt64
    /// The time for which each server has been silent since its last answer, and when that was counted.
    private var silences: [(nanoseconds: UInt64, until: Instant)]

    init(count: Int, badTime: UInt64) {
        badUntil = Array(repeating: Instant(nanoseconds: 0), count: count)
        silences = Array(repeating: (0, Instant(nanoseconds: 0)), count: count)
        self.badTime = badTime
    }

    /// Returns the indices of all servers, the best first. Failed servers come last but are never left out.
    func order(at now: Instant) -> [Int] {
        let all = badUntil.indices.map { (preferred + $0) % badUntil.count }
        let good = all.filter { badUntil[$0] <= now }
        let bad = all.filter { badUntil[$0] > now }.sorted { badUntil[$0] < badUntil[$1] }
        return good + bad
    }

    mutating func noteSuccess(of server: Int) {
        preferred = server
        badUntil[server] = Instant(nanoseconds: 0)
        silences[server].nanoseconds = 0
    }

    /// Notes that a server has not answered since `start`. It has failed if that adds up to a second: for the
    /// haste of one caller no server is a bad one, and behind a silent one all callers may be in a hurry.
    mutating func noteSilence(of server: Int, since start: Instant, at now: Instant) {
        let begin = max(start, silences[server].until)
        if begin < now { silences[server].nanoseconds += now.nanoseconds - begin.nanoseconds }
        silences[server].until = now
        if silences[server].nanoseconds >= Self.longestSilence { recordFailure(of: server, at: now) }
    }

    private static let longestSilence: UInt64 = 1_000_000_000

    mutating func recordFailure(of server: Int, at now: Instant) {
        badUntil[server] = now.advanced(byNanoseconds: badTime)
        // Otherwise the failed server would be first again when its time is over.
        if preferred == server { preferred = (server + 1) % badUntil.count }
    }
}
