import CommandKit
import DirectCore
import DirectTestCommands
import DirectTestPeers
import Foundation
import Testing

/// The program direct-proxy, which runs until it is told to end.
struct ProxyCommand {
    let process: TestProcess
    let output, errors: FileHandle

    struct Result {
        let status: Int32
        let output, errors: String
    }

    /// - Parameter prelude: commands of a shell, which then becomes the program.
    init(_ words: [String], environment: [String: String] = [:], after prelude: String = ":") throws {
        let output = try #require(ChildPipe())
        let errors = try #require(ChildPipe())
        process = try TestProcess(
            "/bin/sh",
            ["-c", "\(prelude); exec \"$@\"", "sh", Self.program] + words,
            environment: environment.merging(["PATH": "/usr/bin:/bin"]) { own, _ in own },
            output: output.writing,
            errors: errors.writing
        )
        output.closeWriting()
        errors.closeWriting()
        self.output = FileHandle(fileDescriptor: output.reading, closeOnDealloc: true)
        self.errors = FileHandle(fileDescriptor: errors.reading, closeOnDealloc: true)
    }

    /// Runs it until it ends by itself.
    static func run(
        _ words: [String],
        environment: [String: String] = [:],
        after prelude: String = ":"
    ) async throws -> Result {
        try await onOwnThread {
            let command = try ProxyCommand(words, environment: environment, after: prelude)
            let output = command.output.readDataToEndOfFile()
            let errors = command.errors.readDataToEndOfFile()
            return Result(
                status: command.process.waitForEnd(),
                output: String(decoding: output, as: UTF8.self),
                errors: String(decoding: errors, as: UTF8.self)
            )
        }
    }

    /// The URLs that it prints without a program, so many.
    func urls(_ count: Int) throws -> [Substring] {
        var text = ""
        while text.filter({ $0 == "\n" }).count < count {
            let more = output.availableData
            try #require(!more.isEmpty, "it has ended")
            text += String(decoding: more, as: UTF8.self)
        }
        return text.split(separator: "\n")
    }

    /// Where it listens.
    func endpoint() throws -> Endpoint {
        let place = try #require(try urls(1).first?.split(separator: "/").last)
        return try Endpoint(String(place.split(separator: "@").last ?? place))
    }

    /// What it answers to these bytes, until it closes.
    static func answer(_ bytes: String, at endpoint: Endpoint) throws -> String {
        let program = try Peer.connected(to: endpoint)
        try program.send(bytes)
        return try program.rest()
    }

    /// Whether it opens a tunnel.
    static func connects(to target: String, at endpoint: Endpoint) throws -> Bool {
        let program = try Peer.connected(to: endpoint)
        try program.send("CONNECT \(target) HTTP/1.1\r\n\r\n")
        return try program.text(12) == "HTTP/1.1 200"
    }

    private static var program: String {
        var folder = Bundle.main.bundleURL
        #if os(Linux)
        folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        #else
        folder.deleteLastPathComponent()
        #endif
        return folder.appendingPathComponent("direct-proxy").path
    }
}
