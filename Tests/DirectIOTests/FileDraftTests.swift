import Foundation
import Testing

@testable import DirectIO

@Suite("Files that are replaced as a whole")
struct FileDraftTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
    }

    /// Writes a text to a file, as every part of the package does.
    private func write(_ text: String, _ name: String, mode: UInt16 = 0o666) throws {
        let draft = try FileDraft(folder.path + "/" + name, mode: mode, direct: .devices)
        try draft.write(Array(text.utf8))
        try draft.settle()
        try draft.commit()
    }

    @Test(
        "A name of any length that the file system allows can be written",
        arguments: [1, 223, 224, 245, 255]
    )
    func lengths(count: Int) throws {
        let name = String(repeating: "n", count: count)
        try write("new", name)
        #expect(try folder.names == [name] && folder.read(name) == "new")
        try StateFile.replace(folder.path + "/" + name, with: [1])
        #expect(try StateFile.read(folder.path + "/" + name, limit: 1) == [1])
    }

    @Test("A link stays, and what it leads to is replaced or created, also through further links and folders")
    func links() throws {
        try FileManager.default.createDirectory(
            atPath: folder.path + "/d",
            withIntermediateDirectories: false
        )
        try folder.write("old", "d/file")
        try folder.link("first", to: "d/second")
        try folder.link("d/second", to: "../d/file")
        try folder.link("dangling", to: folder.path + "/d/none")
        try write("new", "first")
        try write("created", "dangling")
        #expect(try folder.read("d/file") == "new" && folder.read("d/none") == "created")
        #expect(try folder.target(of: "first") == "d/second" && folder.target(of: "d/second") == "../d/file")
        #expect(folder.names == ["d", "dangling", "first"])
    }

    @Test(
        "A path without a name, and what only looks like an open file, is an error before anything is written"
    )
    func nameless() throws {
        for path in ["", "/dev/fd/+1", "/proc/self/fd/01", folder.path + "/none/", folder.path + "/."] {
            #expect(throws: SystemError.self) { try FileDraft(path, mode: 0o666, direct: .devicesAndPipes) }
            #expect(throws: SystemError.self) {
                try PartialFile.open(path, mode: 0o666, of: .init(title: [1]))
            }
            #expect(throws: SystemError.self) { try StateFile.replace(path, with: [1]) }
        }
        #expect(try folder.names.isEmpty && StateFile.read("", limit: 1) == nil)
    }

    @Test("Links that lead to each other are an error")
    func loop() throws {
        try folder.link("a", to: "b")
        try folder.link("b", to: "a")
        let path = folder.path + "/a"
        #expect(throws: SystemError("open", code: ELOOP, path: path)) { try FileDraft(path, mode: 0o600) }
    }

    @Test("A replaced file passes its permissions on, and never more than are asked for")
    func modes() throws {
        for (old, asked, expected) in [
            (0o600, 0o666, 0o600), (0o755, 0o666, 0o755), (0o644, 0o600, 0o600), (0o664, 0o666, 0o664),
            (0o4755, 0o777, 0o755),
        ] as [(UInt16, UInt16, UInt16)] {
            try folder.write("old", "file")
            chmod(folder.path + "/file", mode_t(old))
            try write("new", "file", mode: asked)
            #expect(try folder.mode(of: "file") == expected, "\(String(old, radix: 8))")
        }
    }

    @Test("A new file has the permissions that the system gives every file made with the same ones")
    func newFiles() throws {
        for mode: UInt16 in [0o666, 0o600, 0o777, 0o640] {
            close(open(folder.path + "/other", O_CREAT | O_WRONLY, mode_t(mode)))
            try write("new", "file", mode: mode)
            #expect(try folder.mode(of: "file") == folder.mode(of: "other"))
            for name in folder.names { unlink(folder.path + "/" + name) }
        }
    }

    @Test("A file is its owner's only until it has its name, and then not under any other")
    func unfinished() throws {
        try folder.write("old", "file")
        let draft = try FileDraft(folder.path + "/file", mode: 0o666)
        for temporary in folder.names where temporary != "file" {
            #expect(try folder.mode(of: temporary) == 0o600 && !temporary.contains("file"))
        }
        try draft.commit()
        #expect(folder.names == ["file"])
    }

    @Test(
        "Of the files that killed writers leave, the next one removes all that are its user's and not in use"
    )
    func leftovers() throws {
        let target = try FilePlace(named: folder.path + "/file")
        let left = target.draftPlaces.map(\.name)
        for name in left { try folder.write("left", name) }
        let inUse = open(folder.path + "/" + left[1], O_RDONLY)
        defer { close(inUse) }
        flock(inUse, LOCK_EX)
        if geteuid() == 0 { chown(folder.path + "/" + left[2], 1234, 1234) }
        try write("new", "file")
        let kept = [left[1], left[4]] + (geteuid() == 0 ? [left[2]] : [])
        #expect(try Set(folder.names) == Set(kept + ["file"]) && folder.read("file") == "new")
    }

    @Test("What was written so far can get a name beside the file, which stays as it is")
    func beside() throws {
        try folder.write("old", "file")
        try folder.link("link", to: "file")
        try folder.write("somebody's", "file.part")
        var former: Int32?
        for text in ["first", "second"] {
            let draft = try FileDraft(folder.path + "/link", mode: 0o600)
            try draft.write(Array(text.utf8))
            let path = try draft.commit(beside: ".part", inPlaceOf: former)
            #expect(path == folder.path + "/file.part-1")
            #expect(try folder.read("file") == "old" && folder.read("file.part-1") == text)
            #expect(try folder.read("file.part") == "somebody's")
            if let former { close(former) }
            former = open(folder.path + "/file.part-1", O_RDONLY)
        }
        #expect(folder.names == ["file", "file.part", "file.part-1", "link"])
        // The file itself, if this one has all that is in it.
        let own = open(folder.path + "/file", O_RDONLY)
        let draft = try FileDraft(folder.path + "/link", mode: 0o600)
        try draft.write([UInt8(ascii: "n")])
        #expect(draft.replaces(own))
        #expect(try draft.commit(beside: ".part", inPlaceOf: own) == folder.path + "/file")
        #expect(try folder.read("file") == "n" && folder.names.count == 4)
        // What follows is there at once, and the name is the final one.
        try draft.write([UInt8(ascii: "o")])
        #expect(try folder.read("file") == "no")
        try draft.commit()
        #expect(try folder.read("file") == "no" && folder.names.count == 4)
        for file in [own, former ?? -1] { close(file) }
    }

    @Test("A file beside grows under its name, and gives that up for the final one")
    func growingBeside() throws {
        try folder.write("old", "file")
        let draft = try FileDraft(folder.path + "/file", mode: 0o600)
        try draft.write([UInt8(ascii: "a")])
        #expect(try draft.commit(beside: ".part") == folder.path + "/file.part")
        try draft.write([UInt8(ascii: "b")])
        #expect(try folder.read("file") == "old" && folder.read("file.part") == "ab")
        try draft.settle()
        try draft.commit()
        #expect(try folder.names == ["file"] && folder.read("file") == "ab")
    }

    @Test("Several writers of one file replace it one after the other, and leave nothing else")
    func severalWriters() throws {
        let drafts = try (0..<9).map { number in
            let draft = try FileDraft(folder.path + "/file", mode: 0o600)
            try draft.write(Array("\(number)".utf8))
            return draft
        }
        for (number, draft) in drafts.enumerated() {
            try draft.commit()
            #expect(try folder.names == ["file"] && folder.read("file") == "\(number)")
        }
    }

    @Test("A file goes to the folder that its path led to, wherever that leads by now")
    func movedFolder() throws {
        mkdir(folder.path + "/old", 0o700)
        let draft = try FileDraft(folder.path + "/old/file", mode: 0o600)
        rename(folder.path + "/old", folder.path + "/moved")
        mkdir(folder.path + "/old", 0o700)
        try draft.write([1])
        try draft.commit()
        #expect(try folder.read("moved/file") == "\u{1}")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/old").isEmpty)
    }

    @Test("The owner of a replaced file stays its owner", .enabled(if: geteuid() == 0))
    func owner() throws {
        try folder.write("old", "file")
        chown(folder.path + "/file", 1234, 2345)
        try write("new", "file")
        #expect(try folder.owner(of: "file") == [1234, 2345] && folder.read("file") == "new")
    }

    @Test(
        "Where all users can put files, another user's file is replaced by one of this user's, and a link not followed",
        .enabled(if: geteuid() == 0)
    )
    func planted() throws {
        chmod(folder.path, 0o1777)
        try folder.write("old", "file")
        chmod(folder.path + "/file", 0o666)
        chown(folder.path + "/file", 1234, 1234)
        try write("secret", "file", mode: 0o600)
        #expect(try folder.owner(of: "file") == [0, 0] && folder.mode(of: "file") == 0o600)
        let link = folder.path + "/link"
        try folder.link("link", to: "file")
        lchown(link, 1234, 1234)
        #expect(throws: SystemError("open", code: EACCES, path: link)) { try FileDraft(link, mode: 0o600) }
        // The owner of the folder decides what is in it.
        chown(folder.path, 1234, 1234)
        try write("public", "link", mode: 0o600)
        #expect(try folder.read("file") == "public")
    }

    @Test("A device is written to and stays; a folder, a pipe and a socket are errors, without any wait")
    func oddKinds() throws {
        let null = try FileManager.default.attributesOfItem(atPath: "/dev/null")[.systemFileNumber] as? Int
        try folder.link("null", to: "/dev/null")
        try write("nothing", "null")
        let after = try FileManager.default.attributesOfItem(atPath: "/dev/null")[.systemFileNumber] as? Int
        #expect(null == after && folder.names == ["null"])
        mkfifo(folder.path + "/pipe", 0o600)
        for (name, code) in [("pipe", EINVAL), (".", EISDIR), ("null", EINVAL)] {
            let path = folder.path + "/" + name
            let error = #expect(throws: SystemError.self) {
                try FileDraft(path, mode: 0o600, direct: .none)
            }
            #expect(error?.code == code, "\(name)")
            if name != "null" { #expect(throws: SystemError.self) { try write("x", name) } }
            #expect(throws: SystemError.self) { try StateFile.replace(path, with: [1]) }
        }
    }

    @Test(
        "The name of an open descriptor is written at its position, and what it leads to is not replaced",
        .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd"))
    )
    func descriptors() throws {
        try folder.write("old", "file")
        let file = open(folder.path + "/file", O_WRONLY | O_APPEND)
        defer { close(file) }
        try folder.link("stdout", to: "/proc/self/fd/\(file)")
        try write("new", "stdout")
        #expect(try folder.read("file") == "oldnew")
        #expect(try folder.names == ["file", "stdout"] && folder.target(of: "stdout").hasPrefix("/proc/"))
        let path = folder.path + "/stdout"
        #expect(throws: SystemError("open", code: EINVAL, path: path)) {
            try StateFile.replace(path, with: [1])
        }
        #expect(throws: SystemError.self) {
            try PartialFile.open(path, mode: 0o600, of: .init(title: [1]))
        }
    }

    @Test("A target that has become a folder meanwhile is an error, and the temporary file goes")
    func lateFolder() async throws {
        let path = folder.path + "/file"
        do {
            let draft = try FileDraft(path, mode: 0o666)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            #expect(throws: SystemError("open", code: EISDIR, path: path)) { try draft.commit() }
        }
        while folder.names.count > 1 { await Task.yield() }
        #expect(folder.names == ["file"])
    }

    @Test("A draft that is released on any thread is removed")
    func release() async throws {
        _ = try FileDraft(folder.path + "/file", mode: 0o666)
        while !folder.names.isEmpty { await Task.yield() }
    }
}
