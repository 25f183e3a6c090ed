internal import DirectIO

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Writes all bytes to a descriptor, and waits while it has no room.
///
/// - Returns: 0, or the value of `errno` if it accepts no more, for example because the reader has closed the
///   pipe.
package func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
    var written = 0
    while written < bytes.count {
        let (count, code) = bytes.withUnsafeBytes { all in
            retryingInterrupts {
                write(descriptor, all.baseAddress.map { $0 + written }, all.count - written)
            }
        }
        if count < 0, code == EAGAIN {
            var list = [pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)]
            _ = poll(&list, 1, -1)
            continue
        }
        guard count > 0 else { return code }
        written += count
    }
    return 0
}
