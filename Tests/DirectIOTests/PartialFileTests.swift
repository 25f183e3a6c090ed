import Foundation
import Testing

@testable import DirectIO

@Suite("Partial files")
struct PartialFileTests {
    /// The files whose records begin with this byte.
    private func open(_ path: String, mode: UInt16, of user: UInt32 = geteuid()) throws -> PartialFile? {
        try PartialFile.open(path, mode: mode, of: .init(title: [2], user: user))
    }

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
        let file = try #require(try open(path, mode: 0o600))
        let descriptor = try #require(descriptors(of: path + ".part").first)
        let copy = dup(descriptor)
        defer { close(copy) }
        #expect(try open(path, mode: 0o600) == nil)
        file.close()
        #expect(try open(path, mode: 0o600) != nil)
    }

    /// Opens the file twice: the second time after something has been done to what the first one left.
    private func reopen(
        _ folder: TestFolder,
        of user: UInt32 = geteuid(),
        after change: (_ part: String, _ record: String) throws -> Void
    ) throws -> PartialFile? {
        let path = folder.path + "/file"
        let first = try #require(try open(path, mode: 0o644))
        try first.saveRecord([2])
        try first.write([1], at: 0)
        first.close()
        try change(path + ".part", path + ".part.info")
        return try open(path, mode: 0o644, of: user)
    }

    @Test("A file and its record that this user left are continued")
    func continued() throws {
        let folder = try TestFolder()
        let file = try #require(try reopen(folder) { _, _ in })
        #expect(
            try file.isFound && file.read(at: 0, count: 9) == [1] && file.readRecord(limit: 9) == [2]
        )
        #expect(try file.adopt() && file.canBeContinued && !file.isFound)
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
        #expect(folder.names.filter { $0 != "file" } == names.filter { !$0.contains(".direct-http") })
        if kind == "link" { #expect(try folder.read("other") == "precious") }
    }

    @Test("On a file system that shows another owner a file is filled, but leaves nothing to continue")
    func inventedOwner() throws {
        let folder = try TestFolder()
        let path = folder.path + "/file"
        // What such a file system shows of every file.
        let other = geteuid() + 1
        let file = try #require(try open(path, mode: 0o644, of: other))
        #expect(!file.canBeContinued && !folder.names.contains("file.part"))
        let second = try #require(try open(path, mode: 0o644, of: other))
        try file.write([1], at: 0)
        try file.commit()
        try second.write([2], at: 0)
        try second.commit()
        #expect(try folder.names == ["file"] && folder.read("file") == "\u{2}")
    }

    @Test("A record whose name another user takes meanwhile is given up, and the file is not")
    func takenRecord() async throws {
        let folder = try TestFolder()
        let file = try #require(try open(folder.path + "/file", mode: 0o600))
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
        let file = try #require(try open(folder.path + "/link", mode: 0o600))
        try file.write([1], at: 0)
        #expect(FileManager.default.fileExists(atPath: folder.path + "/d/file.part"))
        try file.commit()
        #expect(try folder.read("d/file") == "\u{1}" && folder.target(of: "link") == "d/file")
    }

    @Test("A file and a record of other programs are left as they are, whatever becomes of the download")
    func ofOthers() throws {
        for (part, record) in [("mine", nil), ("mine", "[1]"), ("", "[1]")] as [(String, String?)] {
            let folder = try TestFolder()
            for (name, text) in [("file.part", part), ("file.part.info", record)] {
                guard let text else { continue }
                try folder.write(text, name)
                chmod(folder.path + "/" + name, 0o600)
            }
            let file = try #require(try open(folder.path + "/file", mode: 0o600))
            #expect(!file.canBeContinued)
            try file.saveRecord([2])
            try file.write([1], at: 0)
            if record == nil { try file.commit() } else { try file.remove() }
            #expect(try folder.read("file.part") == part)
            #expect(try record == nil || folder.read("file.part.info") == record)
            #expect(folder.names.filter { !$0.hasPrefix("file.part") } == (record == nil ? ["file"] : []))
        }
    }

    @Test("A file that the record does not prove is left alone, and so is the record", arguments: [1, 2])
    func refused(names: Int) throws {
        let folder = try TestFolder()
        let file = try #require(
            try reopen(folder) { part, _ in
                unlink(part)
                try folder.write("precious", "file.part")
                chmod(part, 0o600)
                // A copy as some programs keep one, by a second name.
                if names == 2 { link(part, folder.path + "/file") }
            }
        )
        #expect(file.isFound && file.canBeContinued)
        let other = try file.another()
        #expect(!other.isFound && !other.canBeContinued)
        try other.write([3], at: 0)
        try other.saveRecord([2, 3])
        try other.commit()
        #expect(try folder.read("file") == "\u{3}" && folder.read("file.part") == "precious")
        #expect(try folder.read("file.part.info") == "\u{2}")
        #expect(folder.names == ["file", "file.part", "file.part.info"])
    }

    @Test(
        "A file that another one replaces under its names is neither recorded nor is the other's record touched"
    )
    func namesTakenMeanwhile() throws {
        for name in ["film.part", "film.part.info"] {
            let folder = try TestFolder()
            let file = try #require(try open(folder.path + "/film", mode: 0o600))
            try file.saveRecord([2])
            try file.write([1], at: 0)
            let other = try FileDraft(folder.path + "/" + name, mode: 0o600)
            try other.write([8])
            try other.commit()
            try file.saveRecord([2, 5])
            try file.removeRecord()
            #expect(try folder.read(name) == "\u{8}")
            #expect(folder.names == (name == "film.part" ? [name] : ["film.part", name]))
        }
    }

    @Test("A name that a user has given the final file as a second one is left alone")
    func secondNameOfUser() throws {
        let folder = try TestFolder()
        let path = folder.path + "/film"
        try folder.write("precious", "film")
        chmod(path, 0o600)
        link(path, path + ".part")
        let file = try #require(try open(path, mode: 0o600))
        #expect(!file.canBeContinued)
        try file.write([1], at: 0)
        try file.commit()
        #expect(try folder.read("film.part") == "precious" && folder.read("film") == "\u{1}")
    }

    @Test("A record that a killed process has left alone does not keep a new file from being continued")
    func recordAlone() throws {
        let folder = try TestFolder()
        let file = try #require(try reopen(folder) { part, _ in unlink(part) })
        #expect(file.canBeContinued && !file.isFound)
        try file.saveRecord([2, 3])
        #expect(try file.readRecord(limit: 9) == [2, 3])
    }

    @Test("A file that was killed when it was about to get its final name is continued")
    func almostNamed() throws {
        let folder = try TestFolder()
        let opened = try reopen(folder) { part, _ in
            let draft = try #require(try FilePlace(folder.path + "/file").draftPlaces.first)
            #expect(link(part, folder.path + "/" + draft.name) == 0)
            chmod(part, 0o664)
        }
        let file = try #require(opened)
        #expect(try file.isFound && file.read(at: 0, count: 9) == [1] && file.adopt())
        #expect(try folder.mode(of: "file.part") == 0o600 && folder.names == ["file.part", "file.part.info"])
        try file.commit()
        #expect(try folder.mode(of: "file") != 0o600 && folder.names == ["file", "file.part.info"])
    }

    @Test("Such a file without its record may be another user's, and is left alone")
    func almostNamedByAnother() throws {
        let folder = try TestFolder()
        let opened = try reopen(folder) { part, record in
            unlink(record)
            let draft = try #require(try FilePlace(folder.path + "/file").draftPlaces.first)
            #expect(link(part, folder.path + "/" + draft.name) == 0)
            truncate(part, 0)
            chmod(part, 0o664)
        }
        #expect(try opened?.canBeContinued == false && folder.mode(of: "file.part") == 0o664)
    }

    @Test("Such a file that belongs to another user is never used", .enabled(if: geteuid() == 0))
    func almostNamedWithOwner() throws {
        let folder = try TestFolder()
        let opened = try reopen(folder) { part, _ in
            let draft = try #require(try FilePlace(folder.path + "/file").draftPlaces.first)
            #expect(link(part, folder.path + "/" + draft.name) == 0)
            chown(part, 1234, 1234)
        }
        // Its owner may still have it open for writing.
        #expect(try opened?.canBeContinued == false && folder.owner(of: "file.part").first == 1234)
    }

    @Test("A record with the second name of a killed writer is read without it")
    func secondNameOfRecord() throws {
        let folder = try TestFolder()
        let file = try reopen(folder) { _, record in
            let draft = try #require(try FilePlace(record).draftPlaces.first)
            link(record, folder.path + "/" + draft.name)
        }
        #expect(file?.canBeContinued == true && folder.names == ["file.part", "file.part.info"])
    }

    @Test(
        "A file whose name leads to another one by now does not get the final name, nor is the other removed"
    )
    func changedHands() throws {
        let folder = try TestFolder()
        let path = folder.path + "/film"
        let first = try #require(try open(path, mode: 0o600))
        try first.saveRecord([2])
        try first.write([1], at: 0)
        unlink(path + ".part")
        // The lock of a removed file keeps nobody out.
        let second = try #require(try open(path, mode: 0o600))
        try second.saveRecord([2])
        try second.write([9, 9], at: 0)
        #expect(throws: SystemError.self) { try first.commit() }
        try first.remove()
        #expect(folder.names == ["film.part"] || folder.names == ["film.part", "film.part.info"])
        try second.commit()
        #expect(try folder.read("film") == "\t\t")
    }

    @Test("A file to which another one is moved meanwhile is not taken for its own")
    func targetOfAnother() throws {
        let folder = try TestFolder()
        let file = try #require(try open(folder.path + "/film", mode: 0o600))
        try file.saveRecord([2])
        try file.write([1], at: 0)
        let other = try FileDraft(folder.path + "/film.part", mode: 0o600)
        try other.write([8])
        try other.commit()
        #expect(throws: SystemError("rename", code: ESTALE, path: folder.path + "/film")) {
            try file.commit()
        }
        #expect(try folder.read("film.part") == "\u{8}" && !folder.names.contains("film"))
    }

    @Test(
        "What a process that was killed during the last step leaves is completed, and not taken for another's"
    )
    func secondName() throws {
        let folder = try TestFolder()
        let path = folder.path + "/film"
        let file = try #require(try open(path, mode: 0o600))
        try file.saveRecord([2])
        try file.write([1], at: 0)
        file.close()
        link(path + ".part", path)
        let next = try #require(try open(path, mode: 0o600))
        #expect(next.isFound && folder.names.count == 3)
        #expect(try !next.adopt() && folder.names == ["film"] && folder.read("film") == "\u{1}")
    }
}
