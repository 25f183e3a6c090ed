#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif
internal import CommandKit
internal import DirectCore

/// A running shell command that is written to and read from line by line.
///
/// All operations block. One thread at a time may use it, except for ``stop()``.
final class InteractiveProcess: Sendable {
    private struct State {
        var unread: [UInt8] = []
        /// The number of bytes of `unread` that are known to have no end of line.
        var searched = 0
        var errors: [UInt8] = []
        var outputHasEnded = false
        var errorsHaveEnded = false
        var ending: ChildProcess.Ending?
    }

    /// The number of bytes of a line at most.
    let longestLine: Int
    var hasTooLongLine: Bool { state.withLock { $0.unread.count > longestLine } }

    private let child: ChildProcess
    private let input: Int32
    private let output: Int32
    private let errors: Int32
    private let state = Locked(State())

    /// Starts the command. Returns `nil` if that fails.
    init?(_ command: String, longestLine: Int) {
        self.longestLine = longestLine
        guard let input = ChildPipe(), let output = ChildPipe(), let errors = ChildPipe() else { return nil }
        let streams = ChildProcess.Streams(
            input: input.reading,
            output: output.writing,
            errors: errors.writing
        )
        let child = try? ShellCommand.spawn(command, with: streams)
        input.closeReading()
        output.closeWriting()
        errors.closeWriting()
        guard let child else {
            input.closeWriting()
            output.closeReading()
            errors.closeReading()
            return nil
        }
        self.child = child
        (self.input, self.output, self.errors) = (input.writing, output.reading, errors.reading)
        for descriptor in [input.writing, output.reading, errors.reading] {
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        }
    }

    deinit {
        stop()
        close(input)
        close(output)
        close(errors)
    }

    /// The last kilobytes of standard error.
    var lastErrors: String { state.withLock { String(decoding: $0.errors, as: UTF8.self) } }

    /// Writes a text. Returns `false` if the process does not read it within a time that no working program
    /// needs.
    func write(_ text: String) -> Bool {
        // A process that has ended must not end this one. The signal is for this thread alone, which is not
        // used for anything else.
        blockPipeSignal()
        let bytes = Array(text.utf8)
        let end = ContinuousClock.now.advanced(by: .seconds(10))
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { Self.systemWrite(input, bytes: $0) }
            if count > 0 {
                written += count
            } else if count < 0, errno == EAGAIN {
                // It may have to write before it can read on.
                var waiting = [
                    pollfd(fd: input, events: Int16(POLLOUT), revents: 0),
                    pollfd(fd: output, events: Int16(POLLIN), revents: 0),
                    pollfd(fd: errors, events: Int16(POLLIN), revents: 0),
                ]
                guard ContinuousClock.now < end else { return false }
                _ = poll(&waiting, 3, 1000)
                collect()
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    /// Reads the next line, without its end. Returns `nil` if the process ends first, or does not write one
    /// in time.
    func readLine(within limit: Duration) -> String? {
        let end = ContinuousClock.now.advanced(by: limit)
        while true {
            collect()
            let (line, hasEnded): (String?, Bool) = state.withLock { state in
                guard let index = state.unread[state.searched...].firstIndex(of: 10) else {
                    state.searched = state.unread.count
                    return (nil, state.outputHasEnded)
                }
                state.searched = 0
                let line = String(decoding: state.unread[..<index], as: UTF8.self)
                state.unread.removeSubrange(...index)
                return (line, false)
            }
            if line != nil || hasEnded || hasTooLongLine { return line }
            let left = ContinuousClock.now.duration(to: end)
            guard left > .zero else { return nil }
            let errorsHaveEnded = state.withLock { $0.errorsHaveEnded }
            var waiting = [
                pollfd(fd: output, events: Int16(POLLIN), revents: 0),
                pollfd(fd: errorsHaveEnded ? -1 : errors, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&waiting, 2, left.milliseconds)
        }
    }

    /// Returns how the process ended, or `nil` if it is still running when the time is over.
    func ending(within limit: Duration) -> ChildProcess.Ending? {
        let end = ContinuousClock.now.advanced(by: limit)
        while !reap(), ContinuousClock.now < end { usleep(1000) }
        return state.withLock { $0.ending }
    }

    /// Kills the process and everything that it has started, and waits for it.
    func stop() {
        guard state.withLock({ $0.ending }) == nil else { return }
        kill(-child.id, SIGKILL)
        while !reap() { usleep(500) }
    }

    /// Whether the process has ended.
    private func reap() -> Bool {
        state.withLock { state in
            guard state.ending == nil else { return true }
            state.ending = child.endingIfOver()
            if state.ending != nil { ProcessGroups.end(child.id) }
            return state.ending != nil
        }
    }

    /// Reads everything that has arrived.
    private func collect() {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        state.withLock { state in
            while !state.outputHasEnded, state.unread.count <= longestLine {
                let count = read(output, &buffer, buffer.count)
                if count < 0 && errno == EINTR { continue }
                if count < 0 && errno == EAGAIN { break }
                if count <= 0 { state.outputHasEnded = true } else { state.unread += buffer[..<count] }
            }
            while !state.errorsHaveEnded {
                let count = read(errors, &buffer, buffer.count)
                if count < 0 && errno == EINTR { continue }
                if count < 0 && errno == EAGAIN { break }
                if count <= 0 {
                    state.errorsHaveEnded = true
                } else {
                    state.errors = Array((state.errors + buffer[..<count]).suffix(4096))
                }
            }
        }
    }

    private static func systemWrite(_ descriptor: Int32, bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Darwin)
        Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
        Musl.write(descriptor, bytes.baseAddress, bytes.count)
        #else
        Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }
}
