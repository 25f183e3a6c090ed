#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Closes files when their last reference is released.
///
/// The last release may happen on any thread, also on an event loop or one of Swift's own, and close(2) and
/// unlink(2) may wait for a disk or for another machine. So threads of their own do it.
enum Closing {
    private static let threads = BlockingWork(threadLimit: 4, most: 256, patience: 1_000_000_000)

    /// Does what belongs to the file's end, and then closes a descriptor.
    static func close(_ descriptor: Int32, after end: @escaping @Sendable () -> Void = {}) {
        threads.submit {
            end()
            _ = closeNow(descriptor)
        }
    }
}

private func closeNow(_ descriptor: Int32) -> Int32 { close(descriptor) }
