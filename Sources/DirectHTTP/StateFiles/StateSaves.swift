internal import DirectCore
package import DirectIO

/// The saves of one store, of which one runs at a time for each file. Each writes the state that the store
/// has when it begins.
///
/// With bytes made beforehand, the older of two states could be the last one that is written. All that come
/// while a save runs share the next one: a disk that hangs holds one thread, however often it is tried.
package final class StateSaves: Sendable {
    /// Writes the file. Blocks.
    package typealias Write = @Sendable () throws(SystemError) -> Void
    private typealias Answer = Result<Void, SystemError>

    /// Those who wait for the save that runs, and for the next one.
    private struct Running {
        var current: [Int: Reply<Answer>]
        var next: [Int: Reply<Answer>] = [:]
        /// The work that the last of them wants to be done.
        var write: Write
    }

    private struct State {
        var running: [String: Running] = [:]
        var count = 0
    }

    private let state = Locked(State())

    package init() {}

    /// Replaces a file atomically, on a thread that may block.
    ///
    /// - Parameter content: Returns the new content of the file.
    /// - Throws: A ``SystemError`` if the file cannot be written, or is not within half a minute,
    ///   `CancellationError` if the task was cancelled.
    package func save(to path: String, _ content: @escaping @Sendable () -> [UInt8]) async throws {
        try await save(to: path, on: .shared, by: .forFile(path)) { () throws(SystemError) in
            try StateFile.replace(path, with: content())
        }
    }

    /// Writes a file on one of these threads.
    package func save(
        to path: String,
        on loop: EventLoop,
        by threads: BlockingWork,
        _ write: @escaping Write
    ) async throws {
        if Task.isCancelled { throw CancellationError() }
        let reply = Reply<Answer>(on: loop)
        let (number, isFirst) = state.withLock { state in
            state.count += 1
            guard var running = state.running.removeValue(forKey: path) else {
                state.running[path] = Running(current: [state.count: reply], write: write)
                return (state.count, true)
            }
            running.next[state.count] = reply
            running.write = write
            state.running[path] = running
            return (state.count, false)
        }
        if isFirst { start(path, by: threads, write) }
        let answer: Answer
        do throws(BlockingWork.Abandoned) {
            answer = try await reply.value(until: loop.now.advanced(byNanoseconds: Self.limit))
        } catch {
            state.withLock { $0.running[path]?.next[number] = nil }
            if error == .cancelled { throw CancellationError() }
            throw SystemError.silent
        }
        try answer.get()
    }

    private func start(_ path: String, by threads: BlockingWork, _ write: @escaping Write) {
        threads.submit { [self] in
            let answer: Answer
            do throws(SystemError) {
                answer = .success(try write())
            } catch {
                answer = .failure(error)
            }
            if let next = end(path, with: answer) { start(path, by: threads, next) }
        } orElse: { [self] refusal in
            while end(path, with: .failure(refusal)) != nil {}
        }
    }

    /// Gives the answer to those who wait for it. Returns the next save, if there has to be one.
    private func end(_ path: String, with answer: Answer) -> Write? {
        let (done, next) = state.withLock { state -> ([Int: Reply<Answer>], Write?) in
            guard let running = state.running.removeValue(forKey: path) else { return ([:], nil) }
            guard !running.next.isEmpty else { return (running.current, nil) }
            state.running[path] = Running(current: running.next, write: running.write)
            return (running.current, running.write)
        }
        for reply in done.values { reply.give(answer) }
        return next
    }

    private static let limit: UInt64 = 30_000_000_000
}
