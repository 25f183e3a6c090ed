internal import CommandKit
internal import Glibc

/// What all runs share: the servers' process, and a folder for its certificates and for the runs' files.
final class Stage: @unchecked Sendable {
    /// The ports of the servers.
    struct Ports: Sendable {
        let plain, secure, strict, proxy: UInt16
    }

    let folder: String
    let ports: Ports
    /// The process of the servers, which ends with its input; `nil` if another process has started them.
    private let servers: ProgramCopy?

    /// Starts the servers.
    init() throws {
        var template = Array("\(Files.temporary)/faults-XXXXXX".utf8CString)
        guard let path = mkdtemp(&template) else { throw StageError("no temporary folder") }
        folder = String(cString: path)
        let child = try ProgramCopy(["serve", folder])
        guard let line = child.readLine(), let ports = Ports(line) else {
            throw StageError("the servers did not start")
        }
        self.ports = ports
        servers = child
        try Files.write(Array(line.utf8), to: "\(folder)/ports")
    }

    /// Uses the servers that another process has started.
    init(folder: String) throws {
        self.folder = folder
        guard let text = Files.read("\(folder)/ports"),
            let ports = Ports(String(decoding: text, as: UTF8.self))
        else { throw StageError("no ports in \(folder)") }
        self.ports = ports
        servers = nil
    }

    /// Ends the servers and removes the folder.
    func end() {
        guard let servers else { return }
        _ = servers.finish()
        Files.removeFolder(folder)
    }
}

extension Stage.Ports {
    init?(_ line: String) {
        let numbers = line.split { $0 == " " || $0 == "\n" }.compactMap { UInt16($0) }
        guard numbers.count == 4 else { return nil }
        self.init(plain: numbers[0], secure: numbers[1], strict: numbers[2], proxy: numbers[3])
    }
}

/// The scenarios cannot run.
struct StageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
