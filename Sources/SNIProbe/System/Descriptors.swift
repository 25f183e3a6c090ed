#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The limit on open descriptors. Fewer probes run at the same time if it is low, so that they do not fail.
enum Descriptors {
    /// Returns how many of `jobs` probes can run at the same time. Raises the soft limit up to the hard limit if
    /// needed.
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

    /// The descriptors of one probe, which makes two connections.
    private static let perProbe = 2
    /// The descriptors for files, pipes, event loops and the system resolver.
    private static let others = 20

    #if canImport(Glibc)
    private static let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    private static let openFiles = RLIMIT_NOFILE
    #endif
}
