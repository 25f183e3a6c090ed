#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The limit on open descriptors, which is shared by everything in the process.
package enum Descriptors {
    /// The maximum number of open descriptors: the current soft limit.
    package static var limit: Int {
        var limits = rlimit()
        guard getrlimit(openFiles, &limits) == 0 else { return .max }
        // RLIM_INFINITY is a large number too.
        return Int(clamping: limits.rlim_cur)
    }

    /// Raises the limit to a number, as far as the hard limit allows, and returns what it is then.
    package static func limit(raisedTo count: Int) -> Int {
        var limits = rlimit()
        guard getrlimit(openFiles, &limits) == 0, limits.rlim_cur < rlim_t(count) else { return limit }
        limits.rlim_cur = min(rlim_t(count), limits.rlim_max)
        _ = setrlimit(openFiles, &limits)
        return limit
    }

    /// Returns the number of descriptors that connections must leave free. The system's resolver needs some
    /// for each lookup, files need some, and libdispatch ends the process if it cannot open one.
    package static func reserve(of limit: Int) -> Int {
        max(8, min(limit / 8, 64))
    }

    /// Whether a new descriptor is one of the last. The system assigns the lowest free number, so all numbers
    /// below it are in use.
    static func isInReserve(_ descriptor: Int32) -> Bool {
        let limit = limit
        return Int(descriptor) >= limit - reserve(of: limit)
    }

    #if canImport(Glibc)
    private static let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    private static let openFiles = RLIMIT_NOFILE
    #endif
}

extension SystemError {
    /// Whether the process or the system has run out of descriptors.
    package var isDescriptorShortage: Bool { code == EMFILE || code == ENFILE }
}
