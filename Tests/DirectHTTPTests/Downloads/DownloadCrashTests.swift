@testable import DirectCore
import DirectIO
import DirectTLS
import DirectTestCommands
import Foundation
import Testing

@testable import DirectHTTP

@Suite("Downloads after a crash", .idleLimit)
struct DownloadCrashTests {
    private let folder: TemporaryFolder
    private let url: HTTPURL
    private let content = pattern(at: 0, count: 24)
    /// The ranges that the server was asked for.
    private let asked = Locked<[String?]>([])

    init() throws {
        folder = try .inMemory()
        url = try HTTPURL("http://a.test/film")
    }

    /// A client whose server sends the content, whole or in parts.
    private var client: HTTPClient {
        .downloading { settings in
            settings.transport = { [asked, content] request in
                let range = request.headers["Range"]
                asked.withLock { $0.append(range) }
                let start = range.flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
                var headers: HTTPHeaders = ["ETag": "\"1\""]
                if range != nil { headers["Content-Range"] = "bytes \(start)-23/24" }
                return try Response(
                    to: request,
                    range == nil ? 200 : 206,
                    headers: headers,
                    body: Array(content[start...])
                )
            }
        }
    }

    private let files = ["film.part", "film.part.info"]

    private func record(of count: Int, length: UInt64? = 24) throws -> [UInt8] {
        let whole = Representation(url: url, validator: .entityTag("\"1\""), length: length)
        let digest = try #require(MessageDigest.sha256.digest(of: Array(content.prefix(count))))
        return try #require(DownloadRecord(whole, savedBytes: UInt64(count), digest: digest)?.bytes)
    }

    private func place(_ bytes: some Sequence<UInt8>, _ name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: folder.path + "/" + name))
    }

    private func plant(_ content: some Sequence<UInt8>, _ record: [UInt8]) throws {
        try plantDownload(to: folder.path + "/film", content, record: record)
    }

    /// Downloads after a crash, and returns what the server was asked for.
    ///
    /// - Parameter foreign: The files that are not those of a download: they stay as they are.
    private func restart(leaving foreign: [String] = []) async throws -> [String?] {
        asked.withLock { $0 = [] }
        let former = try foreign.map { ($0, try folder.read($0)) }
        let result = try await client.download(url.text, to: folder.path + "/film")
        #expect(try folder.read("film") == content && result.size == 24)
        try FileManager.default.removeItem(atPath: folder.path + "/film")
        #expect(folder.names == foreign)
        for (name, bytes) in former {
            #expect(try folder.read(name) == bytes)
            try FileManager.default.removeItem(atPath: folder.path + "/" + name)
        }
        return asked.withLock { $0 }
    }

    @Test("A crash at any byte leaves files that are continued by exactly what is missing, or not used")
    func everyByte() async throws {
        for saved in 0...24 {
            for size in 0...24 {
                // Of what was not made permanent a crash of the system may leave anything, zeros for example.
                let rest = [UInt8](repeating: 0, count: max(0, size - saved))
                let part = Array(content.prefix(min(size, saved))) + rest
                if saved > 0 { try plant(part, record(of: saved)) } else { try place(part, "film.part") }
                let start = min(saved, 23)
                let isKept = saved > 0 && size >= saved
                let foreign = size == 0 || isKept ? [] : saved == 0 ? ["film.part"] : files
                let asked = try await restart(leaving: foreign)
                #expect(asked == [isKept ? "bytes=\(start)-" : nil], "\(saved) of \(size)")
            }
        }
    }

    @Test("A record that is cut or damaged at any byte proves no file: both stay as they are")
    func everyByteOfTheRecord() async throws {
        let record = try record(of: 20)
        for index in record.indices {
            for isCut in [true, false] {
                try plant(content.prefix(20), record)
                var bytes = record
                if isCut { bytes = Array(bytes.prefix(index)) } else { bytes[index] ^= 0x20 }
                try place(bytes, "film.part.info")
                #expect(
                    try await restart(leaving: files) == [nil],
                    "\(isCut ? "cut" : "damaged") at \(index)"
                )
            }
        }
    }

    @Test("A partial file that differs in any byte from what its record counts stays as it is")
    func everyByteOfTheFile() async throws {
        for index in 0..<20 {
            var wrong = Array(content.prefix(20))
            wrong[index] ^= 1
            try plant(wrong, record(of: 20))
            #expect(try await restart(leaving: files) == [nil])
        }
    }

    /// Begins a download of this version, and leaves what a process does that is killed then.
    private func kill(after bytes: [UInt8]..., of whole: Representation) throws {
        let partial = try #require(try PartialDownload.open(folder.path + "/film", mode: 0o600))
        try partial.load()
        try partial.begin(whole)
        for piece in bytes { try partial.append(piece) }
        let left = try files.map { ($0, try folder.read($0)) }
        partial.close(discarding: true)
        for (name, bytes) in left {
            try place(bytes, name)
            chmod(folder.path + "/" + name, 0o600)
        }
    }

    @Test(
        "What a download leaves that is killed early, or cannot be continued, is used or removed by the next"
    )
    func killedEarly() async throws {
        let tagged = Representation(url: url, validator: .entityTag("\"1\""), length: 24)
        for whole in [tagged, Representation(url: url)] {
            let isKept = whole.validator != nil
            try kill(after: Array(content.prefix(9)), Array(content[9..<15]), of: whole)
            #expect(try folder.read("film.part").count == 15)
            #expect(try await restart() == [isKept ? "bytes=9-" : nil])
            // Before its first byte, which the record counts already.
            try kill(after: Array(content.prefix(9)), of: whole)
            try place([], "film.part")
            #expect(try await restart() == [nil])
        }
    }

    @Test("The first bytes are so few that none is there without the others, and have their record before")
    func announced() throws {
        let whole = Representation(url: url, length: 1 << 20)
        try kill(after: pattern(at: 0, count: 1 << 20), of: whole)
        let record = try #require(DownloadRecord(parsing: folder.read("film.part.info")))
        #expect(record.savedBytes == 4096 && record.representation == whole)
        #expect(record.digest == MessageDigest.sha256.digest(of: pattern(at: 0, count: 4096)))
    }

    @Test("A file of a version whose length was unknown is continued")
    func unknownLength() async throws {
        try plant(content.prefix(20), record(of: 20, length: nil))
        #expect(try await restart() == ["bytes=20-"])
    }

    @Test("Files of other programs with these names stay as they are, and a folder at the path is an error")
    func foreignFiles() async throws {
        try folder.write("mine", "film.part")
        try folder.write("{}", "film.part.info")
        #expect(try await restart(leaving: ["film.part", "film.part.info"]) == [nil])
        try FileManager.default.createDirectory(
            atPath: folder.path + "/film",
            withIntermediateDirectories: false
        )
        let taken = try await httpError { try await client.download(url.text, to: folder.path + "/film") }
        #expect(taken.systemError?.code == EISDIR && folder.names == ["film"])
    }

    @Test(
        "A download that fails before it has any content leaves a foreign partial file alone, and none of its own"
    )
    func nothingBegun() async throws {
        let refusing = HTTPClient.downloading { $0.transport = { try Response(to: $0, 404) } }
        for isForeign in [true, false] {
            if isForeign { try folder.write("mine", "film.part") }
            _ = try await httpError { try await refusing.download(url.text, to: folder.path + "/film") }
            #expect(folder.names == (isForeign ? ["film.part"] : []))
            if isForeign {
                #expect(try folder.read("film.part") == Array("mine".utf8))
                try FileManager.default.removeItem(atPath: folder.path + "/film.part")
            }
        }
    }

    @Test("What is saved at the end of a failed download is what the next one continues")
    func saved() throws {
        let whole = Representation(url: url, validator: .entityTag("\"1\""), length: 24)
        for count in 1...24 {
            let first = try #require(try PartialDownload.open(folder.path + "/film", mode: 0o600))
            try first.load()
            try first.begin(whole)
            try first.append(Array(content.prefix(count)))
            first.close()
            let second = try #require(try PartialDownload.open(folder.path + "/film", mode: 0o600))
            try second.load()
            // Of a complete file the last byte is asked for again.
            #expect(second.position.size == UInt64(min(count, 23)) && second.position.representation == whole)
            second.close()
        }
    }

    @Test(
        "A copy of a download's files is continued, and a file with other bytes than the record says is left"
    )
    func copied() throws {
        let whole = Representation(url: url, validator: .entityTag("\"1\""), length: 24)
        let path = folder.path + "/film"
        for isOwn in [true, false] {
            let first = try #require(try PartialDownload.open(path, mode: 0o600))
            try first.load()
            try first.begin(whole)
            try first.append(Array(content.prefix(20)))
            first.close()
            let copy = isOwn ? Data(try folder.read("film.part")) : Data("precious".utf8)
            try FileManager.default.removeItem(atPath: path + ".part")
            try copy.write(to: URL(filePath: path + ".part"))
            chmod(path + ".part", 0o600)
            let next = try #require(try PartialDownload.open(path, mode: 0o600))
            try next.load()
            #expect(next.position.size == (isOwn ? 20 : 0))
            if !isOwn { try next.begin(whole) }
            try next.append(Array(isOwn ? content.dropFirst(20) : content[...]))
            try next.settle()
            try next.commit()
            #expect(try folder.read("film") == content)
            #expect(folder.names == (isOwn ? ["film"] : ["film", "film.part", "film.part.info"]))
        }
        #expect(try folder.read("film.part") == Array("precious".utf8))
    }

    @Test("Bytes that a task writes when it is cancelled are kept, and written only once")
    func bytesOfACancelledTask() async throws {
        let disk = try await DownloadDisk(folder.path + "/film", mode: 0o600, wait: .unlimited)
        try disk.partial.begin(Representation(url: url, validator: .entityTag("\"1\""), length: 24))
        let piece = Array(content.prefix(8))
        let append = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await disk.append(piece)
        }
        await #expect(throws: CancellationError.self) { try await append.value }
        #expect(disk.partial.position.size == 8)
        try disk.partial.append(piece, at: 0)
        #expect(disk.partial.position.size == 8)
        disk.partial.close(discarding: true)
    }

    @Test(
        "A download that ends before it has read the files leaves them as they are, and removes its own empty one"
    )
    func unread() throws {
        try plant(content.prefix(20), record(of: 20))
        try #require(try PartialDownload.open(folder.path + "/film", mode: 0o600)).close()
        #expect(folder.names == ["film.part", "film.part.info"])
        try #require(try PartialDownload.open(folder.path + "/other", mode: 0o600)).close()
        #expect(folder.names == ["film.part", "film.part.info"])
    }

    @Test("What is appended becomes permanent from time to time, and not with every piece")
    func permanence() throws {
        let whole = Representation(url: url, validator: .entityTag("\"1\""), length: nil)
        let partial = try #require(try PartialDownload.open(folder.path + "/film", mode: 0o600))
        try partial.load()
        try partial.begin(whole)
        let piece = pattern(at: 0, count: 1 << 19)
        var records: [UInt64] = []
        for _ in 0..<40 {
            try partial.append(piece)
            guard let bytes = try? folder.read("film.part.info"), let record = DownloadRecord(parsing: bytes)
            else {
                continue
            }
            if records.last != record.savedBytes { records.append(record.savedBytes) }
        }
        // The first bytes at once, every MiB then, and every eighth of the file later.
        #expect(records.prefix(2) == [4096, 1 << 20] && records.count < 20 && (records.last ?? 0) > 17 << 20)
        partial.close(discarding: true)
        #expect(folder.names.isEmpty)
    }
}
