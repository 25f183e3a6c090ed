import DirectTestCommands
import Foundation

/// The built program, which SwiftPM puts beside the tests.
enum Program {
    static let path: String = {
        // The test bundle (macOS) or the test program (Linux) lies in the folder of products.
        var folder = Bundle.main.bundleURL
        for _ in 0..<4 {
            let candidate = folder.appending(path: "sni-probe")
            if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate.path }
            folder = folder.deletingLastPathComponent()
        }
        return "sni-probe"
    }()

    struct Result: Sendable {
        let code: Int32
        let output: String
        let errors: String
    }

    /// Runs it beside the cooperative pool, with this as standard input.
    static func run(
        _ arguments: [String],
        input: String = "",
        environment: [String: String] = [:],
        wrapper: [String] = []
    ) async throws -> Result {
        try await onOwnThread {
            let running = try RunningProgram(arguments, environment: environment, wrapper: wrapper)
            try? running.input.write(contentsOf: Data(input.utf8))
            try running.input.close()
            return running.finish()
        }
    }
}

/// The program while it runs, with its three pipes. Its calls block.
final class RunningProgram: @unchecked Sendable {
    let input: FileHandle
    let output: FileHandle
    private let errors: FileHandle
    private let child: TestProcess

    /// Probes have all the time that a busy machine needs, unless the arguments give them less.
    init(_ arguments: [String], environment: [String: String] = [:], wrapper: [String] = []) throws {
        let isProbe = !["check", "report"].contains(arguments.first)
        let arguments = (isProbe ? ["--timeout", "1h"] : []) + arguments
        let (input, output, errors) = (Pipe(), Pipe(), Pipe())
        var variables = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "", "LANG": "C.UTF-8"]
        variables.merge(environment) { _, new in new }
        let words = wrapper + [Program.path] + arguments
        child = try TestProcess(
            words[0],
            Array(words.dropFirst()),
            environment: variables,
            input: input.fileHandleForReading.fileDescriptor,
            output: output.fileHandleForWriting.fileDescriptor,
            errors: errors.fileHandleForWriting.fileDescriptor
        )
        try input.fileHandleForReading.close()
        try output.fileHandleForWriting.close()
        try errors.fileHandleForWriting.close()
        (self.input, self.output, self.errors) = (
            input.fileHandleForWriting, output.fileHandleForReading, errors.fileHandleForReading
        )
    }

    /// The next line of output; blocks until it is there.
    func readLine() throws -> String {
        var line: [UInt8] = []
        while let byte = try output.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") {
            line.append(byte)
        }
        return String(decoding: line, as: UTF8.self)
    }

    func interrupt() { child.interrupt() }

    func kill() { child.kill() }

    func finish() -> Program.Result {
        let collected = ErrorBox()
        let reader = Thread { [errors] in
            collected.bytes = errors.readDataToEndOfFile()
            collected.done.signal()
        }
        reader.start()
        let text = (try? output.readToEnd()) ?? Data()
        let code = child.waitForEnd()
        collected.done.wait()
        return Program.Result(
            code: code,
            output: String(decoding: text, as: UTF8.self),
            errors: String(decoding: collected.bytes, as: UTF8.self)
        )
    }
}

private final class ErrorBox: @unchecked Sendable {
    let done = DispatchSemaphore(value: 0)
    // Written before the signal, read after it.
    var bytes = Data()
}
