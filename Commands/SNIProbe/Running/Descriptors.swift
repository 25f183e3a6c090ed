internal import DirectIO

/// The limit on open descriptors. Fewer probes run at the same time if it is low, so that they do not fail.
enum Descriptors {
    /// What the limit leaves room for.
    struct Room: Equatable {
        /// The probes.
        var probes: StartQueue.Limits
        /// The calls of the system's resolver, some of which may go on after their callers have given up.
        var lookups: Int
    }

    /// Returns the room for so many probes at the same time; `nil` for the default. Raises the soft limit up
    /// to the hard limit if needed.
    ///
    /// - Parameter resolvers: The number of resolvers that are asked for each name.
    static func room(for jobs: Int?, resolvers: Int = 0) -> Room {
        let wanted = wanted(jobs)
        let needed = wanted.running * perProbe(resolvers: resolvers) + mostLookups + others
        let limit = DirectIO.Descriptors.limit(raisedTo: needed)
        return room(for: wanted, resolvers: resolvers, descriptors: limit)
    }

    /// Returns the limits without regard to descriptors.
    static func wanted(_ jobs: Int?) -> StartQueue.Limits {
        StartQueue.Limits(jobs: jobs ?? usualJobs, running: jobs ?? mostRunning)
    }

    /// Returns the room for so many probes with so many descriptors.
    static func room(for wanted: StartQueue.Limits, resolvers: Int = 0, descriptors: Int) -> Room {
        let perProbe = perProbe(resolvers: resolvers)
        let lookups = max(1, min(mostLookups, (descriptors - others) / 8))
        let running = max(1, min(wanted.running, (descriptors - others - lookups) / perProbe))
        return Room(probes: .init(jobs: min(wanted.jobs, running), running: running), lookups: lookups)
    }

    /// The number of probes that work at the same time, without `--jobs`.
    private static let usualJobs = 64
    /// The number of probes at the same time with those that wait, without `--jobs`. Two handshakes that wait
    /// take some 100 KiB.
    private static let mostRunning = 512
    /// The calls of the system's resolver.
    private static let mostLookups = 256
    /// The descriptors of one probe, which makes up to five connections to compare servers, or before that
    /// asks each resolver for two families.
    private static func perProbe(resolvers: Int) -> Int { max(5, 2 * resolvers) }
    /// The descriptors for files, pipes and event loops.
    private static let others = 20
}
