import Foundation
import Testing

@testable import DirectIO

@Suite("Partial files")
struct PartialFileTests {
    /// The descriptors of this process that lead to a file.
    private func descriptors(of path: String) -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.compactMap { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
            return target == path ? Int32(name) : nil
        }
    }

    @Test(
        "A closed file is unlocked, even while a copy of its descriptor is open in a process that is being started",
        .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd"))
    )
    func unlocked() throws {
        let folder = try TestFolder()
        let path = folder.path + "/file"
        let file = try #require(try PartialFile.open(path, mode: 0o600))
        let descriptor = try #require(descriptors(of: path + ".part").first)
        let copy = dup(descriptor)
        defer { close(copy) }
        #expect(try PartialFile.open(path, mode: 0o600) == nil)
        file.close()
        #expect(try PartialFile.open(path, mode: 0o600) != nil)
    }

    /// Opens the file twice: the second time after something has been done to what the first one left.
    private func reopen(
        _ folder: TestFolder,
        of user: UInt32 = geteuid(),
        after change: (_ part: String, _ record: String) throws -> Void
    ) throws -> PartialFile? {
        let path = folder.path + "/file"
        let first = try #require(try PartialFile.open(path, mode: 0o644))
        try first.write([1], at: 0)
        try first.saveRecord([2])
        first.close()
        try change(path + ".part", path + ".part.info")
        return try PartialFile.open(path, mode: 0o644, of: user)
    }

    @Test("A file and its record that this user left are continued")
    func continued() throws {
        let folder = try TestFolder()
        let file = try #require(try reopen(folder) { _, _ in })
        #expect(
            try file.canBeContinued && file.read(at: 0, count: 9) == [1] && file.readRecord(limit: 9) == [2]
        )
        #expect(try folder.mode(of: "file.part") == 0o600 && folder.mode(of: "file.part.info") == 0o600)
        try file.removeRecord()
        try file.commit()
        #expect(try folder.names == ["file"] && folder.mode(of: "file") == 0o644)
    }

    @Test(
        "A file or a record that somebody else may have made is left alone, and a file of another name filled",
        arguments: [
            "writable by the group", "writable by all", "two names", "link", "dangling link", "folder",
            "pipe",
            "another owner",
        ],
        [true, false]
    )
    func foreign(kind: String, isRecord: Bool) throws {
        if kind == "another owner", geteuid() != 0 { return }
        let folder = try TestFolder()
        let file = try #require(
            try reopen(folder) { part, record in
                let path = isRecord ? record : part
                switch kind {
                case "writable by the group": chmod(path, 0o620)
                case "writable by all": chmod(path, 0o602)
                case "two names": link(path, folder.path + "/other")
                case "another owner": chown(path, 1234, 1234)
                default: unlink(path)
                }
                switch kind {
                case "link":
                    try folder.write("precious", "other")
                    symlink("other", path)
                case "dangling link": symlink("other", path)
                case "folder": mkdir(path, 0o700)
                case "pipe": mkfifo(path, 0o600)
                default: break
                }
            }
        )
        let names = folder.names
        #expect(try !file.canBeContinued && file.read(at: 0, count: 9).isEmpty && names.contains("file.part"))
        try file.write([3], at: 0)
        try file.saveRecord([4])
        try file.commit()
        #expect(try folder.read("file") == "\u{3}" && folder.mode(of: "file") == 0o644)
        #expect(folder.names.filter { $0 != "file" } == names.filter { !$0.hasSuffix(".tmp") })
        if kind == "link" { #expect(try folder.read("other") == "precious") }
    }

    @Test("On a file system that shows another owner a file is filled, but leaves nothing to continue")
    func inventedOwner() throws {
        let folder = try TestFolder()
        let path = folder.path + "/file"
        // What such a file system shows of every file.
        let other = geteuid() + 1
        let file = try #require(try PartialFile.open(path, mode: 0o644, of: other))
        #expect(!file.canBeContinued && folder.names.count == 1 && !folder.names.contains("file.part"))
        let second = try #require(try PartialFile.open(path, mode: 0o644, of: other))
        try file.write([1], at: 0)
        try file.commit()
        try second.write([2], at: 0)
        try second.commit()
        #expect(try folder.names == ["file"] && folder.read("file") == "\u{2}")
    }

    @Test("A record whose name another user takes meanwhile is given up, and the file is not")
    func takenRecord() throws {
        let folder = try TestFolder()
        let file = try #require(try PartialFile.open(folder.path + "/file", mode: 0o600))
        try file.write([1], at: 0)
        // A folder stands for what cannot be replaced, as a file of another user in /tmp.
        mkdir(folder.path + "/file.part.info", 0o700)
        try file.saveRecord([2])
        #expect(!file.canBeContinued)
        try file.commit()
        #expect(folder.names == ["file", "file.part.info"])
    }

    @Test("A partial file goes to where a link leads")
    func linked() throws {
        let folder = try TestFolder()
        mkdir(folder.path + "/d", 0o700)
        try folder.link("link", to: "d/file")
        let file = try #require(try PartialFile.open(folder.path + "/link", mode: 0o600))
        try file.write([1], at: 0)
        #expect(FileManager.default.fileExists(atPath: folder.path + "/d/file.part"))
        try file.commit()
        #expect(try folder.read("d/file") == "\u{1}" && folder.target(of: "link") == "d/file")
    }
}
