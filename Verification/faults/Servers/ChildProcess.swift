internal import Glibc

/// This program, started once more with other arguments.
struct ChildProcess {
    let process: pid_t
    /// The pipe to its standard input.
    let input: Int32
    private let output: Int32

    init(_ arguments: [String]) throws {
        var toChild: [Int32] = [0, 0], fromChild: [Int32] = [0, 0]
        guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else {
            throw StageError("no pipe")
        }
        for end in toChild + fromChild { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
        posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
        var words = (["faults"] + arguments).map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var process = pid_t()
        // A crash is a finding by its signal. A backtrace would take a second.
        setenv("SWIFT_BACKTRACE", "enable=no", 1)
        guard posix_spawn(&process, "/proc/self/exe", &actions, nil, &words, environ) == 0 else {
            throw StageError("no process")
        }
        close(toChild[0])
        close(fromChild[1])
        self.process = process
        input = toChild[1]
        output = fromChild[0]
    }

    /// Returns the next line of its standard output; `nil` at the end.
    func readLine() -> String? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while Glibc.read(output, &byte, 1) == 1 {
            guard byte != UInt8(ascii: "\n") else { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }

    /// Returns all lines of its standard output and its exit status, when it has ended.
    func finish() -> (lines: [String], status: Int32) {
        close(input)
        var lines: [String] = []
        while let line = readLine() { lines.append(line) }
        close(output)
        var status: Int32 = 0
        waitpid(process, &status, 0)
        return (lines, status)
    }
}
