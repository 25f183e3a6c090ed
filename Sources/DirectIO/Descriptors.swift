#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The descriptors that this process may have open, which everything in it shares.
package enum Descriptors {
    /// How many there may be at a time: the soft limit, as it is at this moment.
    package static var limit: Int {
        var limits = rlimit()
        guard getrlimit(openFiles, &limits) == 0 else { return .max }
        // Infinity is a large number of its own.
        return Int(clamping: limits.rlim_cur)
    }

    /// How many of them no connection takes. The system's resolver needs some for each name, files need some, and
    /// libdispatch ends the process when it cannot have one.
    package static func reserve(of limit: Int) -> Int {
        max(8, min(limit / 8, 64))
    }

    /// Whether a descriptor just opened is one of the last: the system gives out the lowest number that is free, so all
    /// below it are in use, by whomever.
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
    /// Whether the process, or the system, has no descriptor left.
    package var meansNoDescriptors: Bool { code == EMFILE || code == ENFILE }
}

extension LookupError {
    /// Whether the resolver could not ask, for want of descriptors.
    package var meansNoDescriptors: Bool {
        code == EAI_SYSTEM && (systemCode == EMFILE || systemCode == ENFILE)
    }
}
