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
        var guardian: Guardian?
    }

    private static let state = Locked(State())

    /// A variable of each client's environment, by which the guardian finds those of its processes that have
    /// left the group: daemons, and children that call setsid.
    static let mark = "TLS_FIXTURES_RUN=\(getpid()).\(Instant.now.nanoseconds)."

    /// Starts a process that leads a group. The lock is held meanwhile: a process that has started is always
    /// known.
    ///
    /// - Parameter spawn: Starts a process that does nothing before it has read a line from the descriptor,
    ///   and ends if there is none: this process may be killed before the guardian knows the group.
    static func start(
        _ spawn: (_ gate: Int32) throws(ChildProcess.NotStarted) -> ChildProcess
    ) throws(ChildProcess.NotStarted) -> ChildProcess {
        try state.withLock { (state) throws(ChildProcess.NotStarted) in
            guard !state.isEnding else { throw ChildProcess.NotStarted(command: "", code: ECANCELED) }
            if state.guardian == nil { state.guardian = Guardian() }
            guard let gate = ChildPipe() else { throw ChildProcess.NotStarted(command: "pipe", code: errno) }
            defer {
                gate.closeReading()
                gate.closeWriting()
            }
            let child = try spawn(gate.reading)
            state.running.insert(child.id)
            state.guardian?.note("+ \(child.id)\n")
            _ = writeAll(Array("go\n".utf8), to: gate.writing)
            return child
        }
    }

    /// Kills what a process has left running in its group. Call this as soon as the process has been waited
    /// for: from then on its ID may be given to another.
    static func end(_ id: pid_t) {
        state.withLock { state in
            guard state.running.remove(id) != nil else { return }
            kill(-id, SIGKILL)
            state.guardian?.note("- \(id)\n")
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

/// A shell that kills the groups which are still running when this process has ended, however it did: nothing
/// can be done by a process that gets SIGKILL.
private struct Guardian {
    private let pipe: ChildPipe

    /// Reads which groups have begun and ended. The end of its input is the end of this process.
    private static let program = """
        running=' '
        while read -r change group; do
            case $change in
                +) running="$running$group " ;;
                -) running="${running%% $group *} ${running#* $group }" ;;
            esac
        done
        for group in $running; do kill -9 "-$group"; done
        # What starts meanwhile is found the next time (proc(5); other systems have no such files).
        for attempt in 1 2 3; do
            for file in $(grep -lsF '\(ProcessGroups.mark)' /proc/[0-9]*/environ); do
                file=${file%/environ}
                kill -9 "${file#/proc/}"
            done
        done
        """

    /// Starts the shell, in a group of its own, which no key of a terminal ends. `nil` if that fails.
    init?() {
        guard let pipe = ChildPipe() else { return nil }
        defer { pipe.closeReading() }
        let child = try? ChildProcess(
            "/bin/sh",
            ["-c", Self.program],
            // Without the mark of a run whose client this one is: the guardian of that one would kill this.
            environment: Environment.texts.filter { !$0.hasPrefix("TLS_FIXTURES_RUN=") },
            streams: ChildProcess.Streams(input: pipe.reading),
            leadsGroup: true
        )
        guard child != nil else {
            pipe.closeWriting()
            return nil
        }
        self.pipe = pipe
    }

    func note(_ line: String) { _ = writeAll(Array(line.utf8), to: pipe.writing) }
}
