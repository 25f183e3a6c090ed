internal import CommandKit
internal import DirectJSON

/// Finds the client that a word or a command on the command line means.
enum ClientChoice {
    /// A client that cannot be used.
    struct Fault: Error, CustomStringConvertible {
        var description: String
    }

    /// Returns the client for "ours", for a name of `clients.json` in the fixtures, or for a shell command.
    static func client(_ text: String, folder: VectorFolder) async throws -> any VectorClient {
        if text == "ours" { return OurClient() }
        if text.hasPrefix(proxyMark) {
            let adapter = "\(folder.clients)/proxied.py"
            let command = String(text.dropFirst(proxyMark.count))
            let words = ["python3", adapter, FixtureFolder.program ?? "tls-fixtures", command]
            return try await ClientProgram(words.map(Shell.quoted).joined(separator: " "))
        }
        if try names(folder).contains(text) {
            return try await ClientProgram(try await prepare(text, folder: folder))
        }
        if placeholders.contains(where: text.contains) { return CommandClient(text) }
        return try await ClientProgram(text)
    }

    /// Stands before the command of a proxy that is judged behind this package's client.
    static let proxyMark = "proxy: "

    private static let placeholders = [
        "{url}", "{host}", "{port}", "{address}", "{addresses}", "{ca}", "{ech}", "{proxy}",
    ]

    /// The names in `clients.json`. None if there is no such file.
    private static func names(_ folder: VectorFolder) throws -> [String] {
        let path = "\(folder.clients)/clients.json"
        guard let bytes = try? Files.contents(of: path) else { return [] }
        do {
            let clients = try JSONReader.read(bytes).member("clients").elements()
            return try clients.map { client throws(FieldError) in try client.member("name").text() }
        } catch {
            throw Fault(description: "\(path): \(error)")
        }
    }

    /// Installs and builds what the client needs, and returns the command that starts it.
    private static func prepare(_ name: String, folder: VectorFolder) async throws -> String {
        let command = "\(Shell.quoted("\(folder.clients)/prepare")) \(Shell.quoted(name))"
        let outcome = await onThread { ShellCommand.run(command, within: .seconds(900)) }
        let errors = String(decoding: outcome.errors, as: UTF8.self)
        if !errors.isEmpty { Terminal.complain(Terminal.harmless(errors.trimmed)) }
        guard outcome.ending == .exited(0),
            let line = String(decoding: outcome.output, as: UTF8.self).split(whereSeparator: \.isNewline).last
        else { throw Fault(description: "the client \(name) cannot be prepared") }
        return String(line)
    }
}

extension String {
    /// The text without line ends at its end.
    fileprivate var trimmed: String {
        var text = self[...]
        while text.last?.isNewline == true { text.removeLast() }
        return String(text)
    }
}
