#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The descriptors that this process may open: too few of them are no fault of the servers.
enum Descriptors {
    /// How many probes of those wanted there is room for at once. Takes more of what the system allows where it has to.
    static func room(for jobs: Int) -> Int {
        var limits = rlimit()
        guard getrlimit(openFiles, &limits) == 0 else { return jobs }
        let needed = rlim_t(jobs * perProbe + others)
        if limits.rlim_cur < needed {
            limits.rlim_cur = min(needed, limits.rlim_max)
            guard setrlimit(openFiles, &limits) == 0, getrlimit(openFiles, &limits) == 0 else { return jobs }
        }
        return max(1, min(jobs, (Int(clamping: limits.rlim_cur) - others) / perProbe))
    }

    /// Two handshakes.
    private static let perProbe = 2
    /// Files, pipes, event loops, and what the resolver opens.
    private static let others = 20

    #if canImport(Glibc)
    private static let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    private static let openFiles = RLIMIT_NOFILE
    #endif
}
