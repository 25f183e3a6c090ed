#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif
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
    /// - Parameter spawn: Starts the process, sets its ID and returns 0 or an error number.
    static func start(_ id: inout pid_t, spawn: (inout pid_t) -> Int32) -> Int32 {
        state.withLock { state in
            guard !state.isEnding else { return ECANCELED }
            let code = spawn(&id)
            if code == 0 { state.running.insert(id) }
            return code
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
