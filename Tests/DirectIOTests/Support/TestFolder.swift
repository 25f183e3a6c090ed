import Foundation

/// A folder that goes, with everything in it, with its last reference.
final class TestFolder: Sendable {
    let path = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path + "/files-\(UUID())"

    init() throws {
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o755]
        )
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

    func read(_ name: String) throws -> String {
        try String(contentsOfFile: path + "/" + name, encoding: .utf8)
    }

    func write(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/" + name))
    }

    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path + "/" + name, withDestinationPath: target)
    }

    func target(of link: String) throws -> String {
        try FileManager.default.destinationOfSymbolicLink(atPath: path + "/" + link)
    }

    func mode(of name: String) throws -> UInt16? {
        let value = try FileManager.default.attributesOfItem(atPath: path + "/" + name)[.posixPermissions]
        return (value as? NSNumber)?.uint16Value
    }

    /// The user and the group.
    func owner(of name: String) throws -> [Int] {
        let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
        return [FileAttributeKey.ownerAccountID, .groupOwnerAccountID].compactMap {
            (attributes[$0] as? NSNumber)?.intValue
        }
    }
}
