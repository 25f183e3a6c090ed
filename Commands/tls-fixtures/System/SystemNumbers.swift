#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Values of `errno`, for files that do not import libc.
enum SystemNumbers {
    static let connectionRefused = ECONNREFUSED
    static let connectionReset = ECONNRESET
    static let brokenPipe = EPIPE
    static let timedOut = ETIMEDOUT
}
