internal import Testing

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The descriptors that this process has open, whatever their numbers, as the system lists them.
package func openDescriptors() throws -> [Int32] {
    #if canImport(Darwin)
    let folder = try #require(opendir("/dev/fd"))
    #else
    let folder = try #require(opendir("/proc/self/fd"))
    #endif
    defer { closedir(folder) }
    var found: [Int32] = []
    while let entry = readdir(folder) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        // The list names itself, and the folders around it.
        if let number = Int32(name), number != dirfd(folder) { found.append(number) }
    }
    return found
}

/// The number of sockets that this process has open.
///
/// A test for leaks counts these alone: the runtime opens a timer of its own when it needs one.
package func openSocketCount() throws -> Int {
    try openDescriptors().count { descriptor in
        var facts = stat()
        return fstat(descriptor, &facts) == 0 && facts.st_mode & S_IFMT == S_IFSOCK
    }
}

/// Limits this process, which a test has begun, to that many descriptors, for good.
package func allowDescriptors(_ count: Int) {
    closeInherited()
    var limits = rlimit(rlim_cur: rlim_t(count), rlim_max: rlim_t(count))
    guard setrlimit(openFiles, &limits) == 0 else { exit(101) }
}

/// Closes what the tests beside it had open when this process began, under whatever numbers: Swift Testing
/// closes only what comes after the pipe by which the process reports, and keeps what closes by itself.
private func closeInherited() {
    let report = getenv("SWT_BACKCHANNEL").flatMap { Int32(String(cString: $0)) }
    for descriptor in (try? openDescriptors()) ?? [] where descriptor > 2 && descriptor != report {
        // What this process has opened itself closes at exec: the runtime and libdispatch open nothing else.
        let flags = fcntl(descriptor, F_GETFD)
        if flags >= 0, flags & FD_CLOEXEC == 0 { _ = close(descriptor) }
    }
}

#if canImport(Glibc)
private let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
#else
private let openFiles = RLIMIT_NOFILE
#endif
