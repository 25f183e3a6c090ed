internal import CommandKit
internal import Glibc

/// This program, started once more with other arguments.
struct ProgramCopy {
    let child: ChildProcess
    /// The pipe to its standard input.
    let input: Int32
    private let output: UnsafeMutablePointer<FILE>

    init(_ arguments: [String]) throws {
        guard let input = ChildPipe(), let output = ChildPipe(), let lines = fdopen(output.reading, "r")
        else {
            throw StageError("no pipe")
        }
        // A crash is a finding by its signal. A backtrace would take a second.
        setenv("SWIFT_BACKTRACE", "enable=no", 1)
        let variables = (0...).lazy.map { environ[$0] }.prefix { $0 != nil }
        child = try ChildProcess(
            "/proc/self/exe",
            arguments,
            environment: variables.compactMap { $0.map { String(cString: $0) } },
            streams: ChildProcess.Streams(input: input.reading, output: output.writing, errors: 2)
        )
        input.closeReading()
        output.closeWriting()
        (self.input, self.output) = (input.writing, lines)
    }

    /// Returns the next line of its standard output; `nil` at the end.
    func readLine() -> String? {
        var line: UnsafeMutablePointer<CChar>?
        var room = 0
        defer { free(line) }
        guard getline(&line, &room, output) > 0, let line else { return nil }
        return String(String(cString: line).prefix { $0 != "\n" })
    }

    /// Returns all lines of its standard output and how it ended.
    func finish() -> (lines: [String], ending: ChildProcess.Ending) {
        close(input)
        var lines: [String] = []
        while let line = readLine() { lines.append(line) }
        fclose(output)
        return (lines, child.waitForEnd())
    }
}
