import DirectJSON
import DirectTestCommands
import Foundation
import Testing

@testable import tls_fixtures

@Suite("The program tls-fixtures serve", .idleLimit)
struct ServeTests {
    @Test("The program starts a server for each set-up and each certificate, on loopback")
    func everything() throws {
        let folder = try VectorFolder(fixtures: checkedInFixtures)
        let served = try ServedFixtures(folder)
        defer { served.stop() }
        let endpoints = try self.endpoints(in: served.map)
        #expect(endpoints.count > folder.servers.count + 50)
        for endpoint in endpoints {
            #expect(["127.0.0.1", "::1"].contains(endpoint["address"]), "\(endpoint)")
            #expect(endpoint["name"]?.isEmpty == false && endpoint["does"]?.isEmpty == false)
        }
        #expect(Set(endpoints.map { $0["name"] }).count == endpoints.count)
        let ports = endpoints.map { "\($0["address"] ?? "") \($0["port"] ?? "")" }
        #expect(Set(ports).count == ports.count)
    }

    @Test("The program serves until it gets a signal, or its input is closed", arguments: [true, false])
    func stops(byClosing isClosing: Bool) async throws {
        let program = try #require(builtProgram)
        let (map, status) = try await onThread { Result { try Self.serve(program, closing: isClosing) } }
            .get()
        #expect(try endpoints(in: map).count > 100)
        #expect(status == 0)
    }

    @Test("A child process gets no descriptor but the standard ones")
    func noOthers() async throws {
        let pipe = Pipe()
        // Unlike those of Foundation and of this package, it does not close when a program is started.
        let end = fcntl(pipe.fileHandleForWriting.fileDescriptor, F_DUPFD, 3)
        try #require(end > 2)
        defer { close(end) }
        let script = "test -e /dev/fd/\(end) && echo open || echo closed"
        let outcome = await onThread { ShellCommand.run(script, within: .seconds(60)) }
        #expect(outcome.output == Array("closed\n".utf8))
    }

    /// The map and the exit status; blocks.
    private static func serve(_ program: String, closing isClosing: Bool) throws -> (
        map: String, status: Int32
    ) {
        let (input, output) = (Pipe(), Pipe())
        let process = try TestProcess(
            program,
            ["serve", "--fixtures", checkedInFixtures],
            environment: [:],
            input: input.fileHandleForReading.fileDescriptor,
            output: output.fileHandleForWriting.fileDescriptor
        )
        // Ours alone: it is to see its input end, and we its output.
        try input.fileHandleForReading.close()
        try output.fileHandleForWriting.close()
        var map = Data()
        while !map.suffix(4).elementsEqual("\n]}\n".utf8) {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { break }
            map += more
        }
        if isClosing { try input.fileHandleForWriting.close() } else { process.terminate() }
        return (String(decoding: map, as: UTF8.self), process.waitForEnd())
    }

    @Test(
        "A mistake in the list of certificates is told with its line",
        arguments: [("[\n{", "2: "), ("[\n{\"file\": \"a.pem\"}]", "2: the field \"about\" is missing")]
    )
    func badCertificates(_ text: String, _ wanted: String) throws {
        let folder = NSTemporaryDirectory() + "certificates-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = folder + "/certificates.json"
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        #expect {
            _ = try CertificateIndex.rows(in: folder)
        } throws: { error in
            "\(error)".hasPrefix("\(file):\(wanted)")
        }
    }

    private func endpoints(in map: String) throws -> [[String: String]] {
        guard case .object(let members) = try JSONReader.read(Array(map.utf8)).content,
            case .array(let rows)? = members.first(where: { $0.name == "endpoints" })?.value.content
        else { return [] }
        return rows.map { row in
            guard case .object(let fields) = row.content else { return [:] }
            return Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.value.plainText) })
        }
    }
}

extension JSONValue {
    fileprivate var plainText: String {
        switch content {
        case .string(let text), .number(let text): text
        default: description
        }
    }
}
