import DirectTestCommands
import Foundation

/// The outcome of a command-line client.
struct CommandResult: Sendable {
    let status: Int32
    let output: String
    let errors: String
}

/// Runs a command beside the cooperative pool.
func run(_ command: String, _ arguments: [String], input: String? = nil) async throws -> CommandResult {
    try await onOwnThread { try runBlocking(command, arguments, input) }
}

private func runBlocking(_ command: String, _ arguments: [String], _ input: String?) throws -> CommandResult {
    let (output, errors, feed) = (Pipe(), Pipe(), Pipe())
    let child = try TestProcess(
        command,
        arguments,
        environment: ProcessInfo.processInfo.environment,
        input: feed.fileHandleForReading.fileDescriptor,
        output: output.fileHandleForWriting.fileDescriptor,
        errors: errors.fileHandleForWriting.fileDescriptor
    )
    // Only the child's ends keep the pipes open from here on.
    try output.fileHandleForWriting.close()
    try errors.fileHandleForWriting.close()
    if let input { try feed.fileHandleForWriting.write(contentsOf: Data(input.utf8)) }
    try feed.fileHandleForWriting.close()
    let errorBytes = OutputBox()
    let reader = Thread {
        errorBytes.bytes = errors.fileHandleForReading.readDataToEndOfFile()
        errorBytes.done.signal()
    }
    reader.start()
    let outputBytes = output.fileHandleForReading.readDataToEndOfFile()
    let status = child.waitForEnd()
    errorBytes.done.wait()
    return CommandResult(
        status: status,
        output: String(decoding: outputBytes, as: UTF8.self),
        errors: String(decoding: errorBytes.bytes, as: UTF8.self)
    )
}

private final class OutputBox: @unchecked Sendable {
    let done = DispatchSemaphore(value: 0)
    // Written before the signal, read after it.
    var bytes = Data()
}

/// Whether the tool can be run here; tests that need it are skipped otherwise.
func isInstalled(_ command: String) -> Bool {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
        FileManager.default.isExecutableFile(atPath: "\($0)/\(command)")
    }
}

/// A file that is there as long as the value lives.
final class TemporaryFile: Sendable {
    let path: String

    init(_ text: String) throws {
        path = NSTemporaryDirectory() + "fixture-" + UUID().uuidString
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    var isEmpty: Bool {
        var facts = stat()
        return stat(path, &facts) != 0 || facts.st_size == 0
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}

/// How many threads of fixture servers this process has.
func fixtureThreadCount() throws -> Int {
    #if os(Linux)
    return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count {
        (try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)) == "fixture\n"
    }
    #else
    return 0
    #endif
}
