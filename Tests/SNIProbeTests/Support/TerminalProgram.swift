import DirectTestCommands
import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// The program on a terminal of its own, which both kinds of output go to. Its calls block.
final class TerminalProgram: @unchecked Sendable {
    private let terminal: FileHandle
    private let child: TestProcess
    private var seen = ""

    /// - Parameter columns: The width of the terminal's window.
    init(_ arguments: [String], columns: UInt16 = 80) throws {
        var (own, other): (Int32, Int32) = (-1, -1)
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        try #require(openpty(&own, &other, nil, nil, &size) == 0)
        terminal = FileHandle(fileDescriptor: own, closeOnDealloc: true)
        defer { close(other) }
        for end in [own, other] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // What is written comes as it is: without a carriage return before each line feed.
        var settings = termios()
        try #require(tcgetattr(other, &settings) == 0)
        settings.c_oflag &= ~tcflag_t(OPOST)
        try #require(tcsetattr(other, TCSANOW, &settings) == 0)
        child = try TestProcess(
            Program.path,
            arguments,
            environment: ["LANG": "C.UTF-8", "NO_COLOR": "1"],
            output: other,
            errors: other
        )
    }

    func interrupt() { child.interrupt() }

    /// Reads until this text has come, and returns everything since the last call.
    func read(until text: String) throws -> String {
        while !seen.contains(text) {
            let isMore = readMore()
            try #require(isMore, "\(seen)")
        }
        defer { seen = "" }
        return seen
    }

    /// The rest of the output, and the exit status.
    func finish() -> (output: String, code: Int32) {
        while readMore() {}
        return (seen, child.waitForEnd())
    }

    /// Whether there was more: on Linux the end of a terminal is an error.
    private func readMore() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Foundation.read(terminal.fileDescriptor, &buffer, buffer.count)
        guard count > 0 else { return false }
        seen += String(decoding: buffer.prefix(count), as: UTF8.self)
        return true
    }
}
