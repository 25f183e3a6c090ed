import DirectTestCommands
import Foundation
import Testing

@testable import tls_fixtures

@Suite("An interrupted run of vectors", .idleLimit)
struct InterruptionTests {
    /// A client that tells that it has started, and hangs with a process of its own.
    private static let hanging = "exec 9>\"$HOME/pipe\"; echo started >&9; sleep 1000; sleep 1000"
    /// The same in a session of its own, as a daemon. The pipe that the run reads is not held open by it.
    private static let daemon = "setsid sh -c '\(hanging)' >/dev/null 2>&1 & sleep 1000"
    private static let description = #"{"contract": 1, "name": "toy", "version": "2", "codings": []}"#

    @Test(
        "A run that is interrupted or killed leaves no process of a client, and ends by the signal",
        arguments: [
            "echo '\(description)'; read line; \(hanging)", "\(hanging) # {address}", "\(daemon) # {address}",
        ],
        [SIGINT, SIGTERM, SIGKILL]
    )
    func noneLeft(_ client: String, by signal: Int32) async throws {
        let program = try #require(builtProgram)
        let fixtures = try TemporaryFixtures(["names/a.json": "[\(nameVector())]"])
        try await noneLeft(client, of: program, fixtures, by: signal)
    }

    @Test("Nor does one whose client is another run", arguments: 0..<8)
    func noneLeftOfTwo(time: Int) async throws {
        let program = try #require(builtProgram)
        let fixtures = try TemporaryFixtures(["names/a.json": "[\(nameVector())]"])
        try Data("\(Self.daemon) # {address}".utf8).write(to: URL(filePath: fixtures.path + "/client"))
        let inner = "'\(program)' run --fixtures \"$HOME\" --client \"$(cat \"$HOME/client\")\" # {address}"
        try await noneLeft(inner, of: program, fixtures, by: SIGKILL)
    }

    private func noneLeft(
        _ client: String,
        of program: String,
        _ fixtures: borrowing TemporaryFixtures,
        by signal: Int32
    ) async throws {
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
                switch signal {
                case SIGINT: process.interrupt()
                case SIGTERM: process.terminate()
                default: process.kill()
                }
                text += try pipe.readToEnd() ?? Data()
                return (String(decoding: text, as: UTF8.self), process.waitForEnd())
            }
        }.get()
        #expect(text == "started\n")
        #expect(status == -signal)
    }
}
