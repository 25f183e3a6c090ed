#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif
internal import CommandKit
internal import DirectCore

/// The process groups of the clients that are running, so that an interrupted run can end them.
enum ProcessGroups {
    private struct State {
        var running: Set<pid_t> = []
        var isEnding = false
    }

    private static let state = Locked(State())

    /// Starts a process that leads a group. The lock is held meanwhile: a process that has started is always
    /// known.
    ///
    /// - Parameter spawn: Starts the process.
    static func start(
        _ spawn: () throws(ChildProcess.NotStarted) -> ChildProcess
    ) throws(ChildProcess.NotStarted) -> ChildProcess {
        try state.withLock { (state) throws(ChildProcess.NotStarted) in
            guard !state.isEnding else { throw ChildProcess.NotStarted(command: "", code: ECANCELED) }
            let child = try spawn()
            state.running.insert(child.id)
            return child
        }
    }

    /// Kills what a process has left running in its group. Call this as soon as the process has been waited
    /// for: from then on its ID may be given to another.
    static func end(_ id: pid_t) {
        state.withLock { state in
            if state.running.remove(id) != nil { kill(-id, SIGKILL) }
        }
    }

    /// Whether all groups have been killed, or are about to be.
    static var isEnding: Bool { state.withLock { $0.isEnding } }

    /// Kills all groups. None can be started afterwards.
    static func killAll() {
        state.withLock { state in
            state.isEnding = true
            for id in state.running { kill(-id, SIGKILL) }
        }
    }
}
