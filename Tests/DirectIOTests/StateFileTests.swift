@testable import DirectCore
import Foundation
import Testing

@testable import DirectIO

@Suite("State files")
struct StateFileTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "state-\(UUID())").path

    init() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    @Test("A state file is read as it was written, and readable only by its owner")
    func roundTrip() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/state"
        #expect(try StateFile.read(path, limit: 10) == nil)
        for size in [0, 1, 70_000] {
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
            try StateFile.replace(path, with: bytes)
            #expect(try StateFile.read(path, limit: size) == bytes)
        }
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
        #expect(mode == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["state"])
    }

    @Test("A state file that is too large is not read")
    func limit() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try StateFile.replace(folder + "/state", with: [1, 2, 3])
        #expect(throws: SystemError("read", code: EFBIG, path: folder + "/state")) {
            try StateFile.read(folder + "/state", limit: 2)
        }
    }

    @Test("A state file may be a link, which stays")
    func links() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let target = folder + "/target", link = folder + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "target")
        #expect(try StateFile.read(link, limit: 10) == nil)
        try StateFile.replace(link, with: [8])
        #expect(try StateFile.read(link, limit: 10) == [8])
        #expect(FileManager.default.contents(atPath: target) == Data([8]))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "target")
    }

    @Test("A state file that others can write to, or that has another name, is an error")
    func notPrivate() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/state", refused = SystemError("open", code: EPERM, path: path)
        try StateFile.replace(path, with: [1])
        for mode: mode_t in [0o620, 0o602] {
            chmod(path, mode)
            #expect(throws: refused) { try StateFile.read(path, limit: 10) }
        }
        chmod(path, 0o644)
        #expect(try StateFile.read(path, limit: 10) == [1])
        // Nor is more written than is read.
        #expect(throws: SystemError("write", code: EFBIG, path: path)) {
            try StateFile.replace(path, with: [1, 2], limit: 1)
        }
        // A name that a killed writer has left is taken away.
        let draft = try #require(try FilePlace(path).draftPlaces.first)
        link(path, folder + "/" + draft.name)
        #expect(try StateFile.read(path, limit: 10) == [1])
        link(path, folder + "/other")
        #expect(throws: refused) { try StateFile.read(path, limit: 10) }
    }

    @Test(
        "Another user's state file is read only where not all users could have put it",
        .enabled(if: geteuid() == 0)
    )
    func foreign() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/state"
        try StateFile.replace(path, with: [1])
        chown(path, 1234, 1234)
        chmod(folder, 0o755)
        #expect(try StateFile.read(path, limit: 10) == [1])
        chmod(folder, 0o1777)
        #expect(throws: SystemError("open", code: EPERM, path: path)) { try StateFile.read(path, limit: 10) }
    }

    @Test("A state file that is a folder or a pipe is an error, without any wait")
    func oddKinds() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(throws: SystemError.self) { try StateFile.read(folder, limit: 10) }
        mkfifo(folder + "/pipe", 0o600)
        #expect(throws: SystemError("open", code: EINVAL, path: folder + "/pipe")) {
            try StateFile.read(folder + "/pipe", limit: 10)
        }
    }

    @Test("A draft that cannot replace the old file is removed")
    func drafts() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder + "/state", withIntermediateDirectories: true)
        #expect(throws: SystemError.self) { try StateFile.replace(folder + "/state", with: [1]) }
        // Nor is a file that is another one than its writer has read.
        try StateFile.replace(folder + "/file", with: [1])
        let former = try #require(try FilePlace(replaceable: folder + "/file").facts())
        try StateFile.replace(folder + "/file", with: [2])
        let place = try FilePlace(replaceable: folder + "/file")
        #expect(try !StateFile.replace(place, with: [3], instead: former))
        #expect(Set(try FileManager.default.contentsOfDirectory(atPath: folder)) == ["state", "file"])
    }

    @Test("A file of lines with another heading is neither appended to nor replaced")
    func otherHeading() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/lines", newer = Array("lines 2\nx\n".utf8), heading = Array("lines 1\n".utf8)
        try StateFile.replace(path, with: newer)
        #expect(try StateFile.append([120, 10], to: path, heading: heading, limit: 100) == nil)
        #expect(throws: SystemError("write", code: EEXIST, path: path)) {
            try StateFile.rewrite(path, heading: heading, limit: 100, orAppend: []) { _ in [121, 10] }
        }
        #expect(try StateFile.read(path) == newer)
        // Only a file that is on disk as a whole has a heading: an empty one gets none by appending.
        try StateFile.replace(path, with: [])
        #expect(try StateFile.append([120, 10], to: path, heading: heading, limit: 100) == nil)
        #expect(try StateFile.read(path) == [])
        // Half of the heading is what a killed process has left.
        try StateFile.replace(path, with: Array(heading.prefix(3)))
        #expect(try StateFile.append([120, 10], to: path, heading: heading, limit: 100) == nil)
        let size = try StateFile.rewrite(path, heading: heading, limit: 100, orAppend: []) { _ in [121, 10] }
        #expect(size == 10)
    }

    @Test("A file of lines never grows beyond what its readers accept: the first lines are left out")
    func grown() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/lines", heading = Array("lines 1\n".utf8)
        let lines = (10..<40).flatMap { Array("line \($0)\n".utf8) }
        let rewritten = try StateFile.rewrite(path, heading: heading, limit: 100, orAppend: []) { _ in lines }
        let size = try #require(rewritten)
        let bytes = try #require(try StateFile.read(path, limit: 100))
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(bytes.count == size && text.hasPrefix("lines 1\nline 3") && text.hasSuffix("line 39\n"))
        #expect(try StateFile.append(Array("z\n".utf8), to: path, heading: heading, limit: 100) == size + 2)
    }

    @Test("A file of lines that has grown beyond the limit is read and replaced by its last lines")
    func overgrown() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/lines", heading = Array("lines 1\n".utf8)
        try StateFile.replace(path, with: heading + (10..<40).flatMap { Array("line \($0)\n".utf8) })
        let end = "line 37\nline 38\nline 39\n"
        let read = try #require(try StateFile.readLines(path, heading: heading, limit: 27))
        #expect(read == heading + Array(("36\n" + end).utf8))
        let size = try StateFile.rewrite(path, heading: heading, limit: 40, orAppend: []) { old in
            Array(old.suffix(24))
        }
        #expect(try StateFile.read(path) == heading + Array(end.utf8) && size == 32)
        #expect(try StateFile.readLines(path, heading: heading, limit: 40) == heading + Array(end.utf8))
        #expect(try StateFile.readLines(path + "-none", heading: heading, limit: 40) == nil)
    }

    @Test("While another process has locked a file of lines, it is appended to, or replaced if it must be")
    func locked() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/lines", heading = Array("lines 1\n".utf8)
        try StateFile.replace(path, with: heading + [97, 10])
        // A process that was stopped has it.
        let file = open(path, O_RDWR | O_CLOEXEC)
        defer { close(file) }
        #expect(flock(file, LOCK_EX | LOCK_NB) == 0)
        for (news, limit) in [([98, 10], 100), ([99, 10], 12)] as [([UInt8], Int)] {
            let rewritten = Result {
                try StateFile.rewrite(path, heading: heading, limit: limit, orAppend: news) { _ in [] }
            }
            if limit == 100 { #expect(try rewritten.get() == nil) }
            if limit == 12 {
                #expect(throws: SystemError("write", code: EFBIG, path: path)) { try rewritten.get() }
            }
            #expect(try StateFile.read(path) == heading + [97, 10, 98, 10])
        }
        let size = try StateFile.rewrite(path, heading: heading, limit: 100, orAppend: nil) { _ in [120, 10] }
        #expect(try StateFile.read(path) == heading + [120, 10] && size == 10)
    }

    @Test("What others have for a file of lines while it is replaced is in the new one")
    func changedMeanwhile() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/lines", heading = Array("lines 1\n".utf8)
        for isRewritten in [false, true] {
            try StateFile.replace(path, with: heading + [97, 10])
            var calls = 0
            let size = try StateFile.rewrite(path, heading: heading, limit: 100, orAppend: []) { old in
                calls += 1
                guard calls == 1 else { return old.dropFirst(heading.count) + [99, 10] }
                if isRewritten {
                    let other = try? StateFile.rewrite(
                        path,
                        heading: heading,
                        limit: 100,
                        orAppend: [98, 10]
                    ) {
                        _ in [120, 10]
                    }
                    #expect(other == nil)
                } else {
                    #expect((try? StateFile.append([98, 10], to: path, heading: heading, limit: 100)) == 12)
                }
                return []
            }
            #expect(try StateFile.read(path) == heading + [97, 10, 98, 10, 99, 10])
            #expect(size == 14 && calls == 2)
        }
    }

    @Test("A file to which others append without end is replaced in the third turn, and no line is lost")
    func appendedWithoutEnd() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/lines", heading = Array("lines 1\n".utf8)
        try StateFile.replace(path, with: heading)
        var calls: UInt8 = 0
        _ = try StateFile.rewrite(path, heading: heading, limit: 100, orAppend: []) { old in
            calls += 1
            let appended = try? StateFile.append([96 + calls, 10], to: path, heading: heading, limit: 100)
            #expect(appended == heading.count + 2 * Int(calls))
            return Array(old.dropFirst(heading.count))
        }
        #expect(try calls == 3 && StateFile.read(path) == heading + [97, 10, 98, 10, 99, 10])
    }

    @Test("A link whose target is no UTF-8 is told by that")
    func oddLink() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(symlink([0xff, 0].map(CChar.init(bitPattern:)), folder + "/link") == 0)
        #expect(throws: SystemError("readlink", code: EILSEQ, path: folder + "/link")) {
            try StateFile.replace(folder + "/link", with: [1])
        }
    }
}
