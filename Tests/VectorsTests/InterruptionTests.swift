import DirectTestCommands
import Foundation
import Testing

@testable import tls_fixtures

@Suite("An interrupted run of vectors", .idleLimit)
struct InterruptionTests {
    /// A client that tells that it has started, and hangs with a process of its own.
    private static let hanging = "exec 9>\"$HOME/pipe\"; echo started >&9; sleep 1000; sleep 1000"
    private static let description = #"{"contract": 1, "name": "toy", "version": "2", "codings": []}"#

    @Test(
        "A run that is interrupted leaves no process of a client, and ends by the signal",
        arguments: ["echo '\(description)'; read line; \(hanging)", "\(hanging) # {address}"],
        [true, false]
    )
    func noneLeft(_ client: String, byTerminal isInterrupt: Bool) async throws {
        let program = try #require(builtProgram)
        let fixtures = try TemporaryFixtures(["names/a.json": "[\(nameVector())]"])
        try #require(mkfifo(fixtures.path + "/pipe", 0o600) == 0)
        let process = try TestProcess(
            program,
            ["run", "--fixtures", fixtures.path, "--client", client],
            environment: ["HOME": fixtures.path, "PATH": "/usr/bin:/bin"]
        )
        let (text, status) = try await onThread { [path = fixtures.path] in
            Result {
                // The pipe ends when the last process that has it open has ended.
                let pipe = try FileHandle(forReadingFrom: URL(filePath: path + "/pipe"))
                var text = pipe.availableData
                if isInterrupt { process.interrupt() } else { process.terminate() }
                text += try pipe.readToEnd() ?? Data()
                return (String(decoding: text, as: UTF8.self), process.waitForEnd())
            }
        }.get()
        #expect(text == "started\n")
        #expect(status == (isInterrupt ? -SIGINT : -SIGTERM))
    }

    @Test(
        "A run that is killed leaves no process of a client, either",
        arguments: ["echo '\(description)'; read line; \(hanging)", "\(hanging) # {address}"]
    )
    func killed(_ client: String) async throws {
        let program = try #require(builtProgram)
        let fixtures = try TemporaryFixtures(["names/a.json": "[\(nameVector())]"])
        try #require(mkfifo(fixtures.path + "/pipe", 0o600) == 0)
        let process = try TestProcess(
            program,
            ["run", "--fixtures", fixtures.path, "--client", client],
            environment: ["HOME": fixtures.path, "PATH": "/usr/bin:/bin"]
        )
        let text = try await onThread { [path = fixtures.path] in
            Result {
                let pipe = try FileHandle(forReadingFrom: URL(filePath: path + "/pipe"))
                var text = pipe.availableData
                process.kill()
                // The pipe ends when the last process that has it open has ended.
                text += try pipe.readToEnd() ?? Data()
                _ = process.waitForEnd()
                return String(decoding: text, as: UTF8.self)
            }
        }.get()
        #expect(text == "started\n")
    }
}
