import Foundation

/// A folder that goes, with everything in it, with its last reference.
final class TemporaryFolder: Sendable {
    let path: String

    /// Makes the folder. Every user can read it: a server's worker may run as nobody.
    convenience init() throws {
        self.init(NSTemporaryDirectory() + "direct-http-" + UUID().uuidString)
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o755]
        )
    }

    private init(_ path: String) {
        self.path = path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// A folder that the code under test is to make.
    static func planned() -> TemporaryFolder {
        TemporaryFolder(NSTemporaryDirectory() + "direct-http-" + UUID().uuidString)
    }

    /// A folder in memory where the system has such, for tests that flush many files.
    static func inMemory() throws -> TemporaryFolder {
        let memory = "/dev/shm"
        guard FileManager.default.isWritableFile(atPath: memory) else { return try TemporaryFolder() }
        let folder = TemporaryFolder(memory + "/direct-http-" + UUID().uuidString)
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: false)
        return folder
    }

    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

    func read(_ name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: URL(fileURLWithPath: path + "/" + name)))
    }

    func write(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/" + name))
    }
}
