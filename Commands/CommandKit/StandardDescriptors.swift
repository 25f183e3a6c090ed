#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Standard input, output and error.
package enum StandardDescriptors {
    /// Opens `/dev/null` in place of those that the parent process closed.
    ///
    /// Otherwise the next pipe or socket would get descriptor 0, 1 or 2, and results could be sent to a
    /// server. `/dev/null` is opened in the opposite direction, so that using it is an error.
    package static func hold() {
        for (descriptor, direction) in [(0, O_WRONLY), (1, O_RDONLY), (2, O_RDONLY)] as [(Int32, Int32)] {
            // In ascending order: `open` takes the lowest free descriptor, which is this one.
            if fcntl(descriptor, F_GETFD) == -1 { _ = open("/dev/null", direction) }
        }
    }
}
