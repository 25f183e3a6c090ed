internal import DirectCore
package import DirectIO

/// The saves of one store, of which one runs at a time. Each writes the state that the store has when it
/// begins.
///
/// With bytes made beforehand, the older of two states could be the last one that is written.
package final class StateSaves: Sendable {
    private let lock = Locked(())

    package init() {}

    /// Replaces a file atomically, on a thread that may block.
    ///
    /// - Parameter content: Returns the new content of the file.
    /// - Throws: A ``SystemError`` if the file cannot be written, `CancellationError` if the task was
    ///   cancelled.
    package func save(
        to path: String,
        on loop: EventLoop = .shared,
        _ content: @escaping @Sendable () -> [UInt8]
    ) async throws {
        try await BlockingWork.forFile(path).run(on: loop) { [lock] () throws(SystemError) in
            try lock.withLock { _ throws(SystemError) in
                try StateFile.replace(path, with: content())
            }
        }
    }
}
