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
        let path =
            FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path + "/partial-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = try #require(try PartialFile.open(path, mode: 0o600))
        let descriptor = try #require(descriptors(of: path).first)
        let copy = dup(descriptor)
        defer { close(copy) }
        #expect(try PartialFile.open(path, mode: 0o600) == nil)
        file.close()
        #expect(try PartialFile.open(path, mode: 0o600) != nil)
    }
}
