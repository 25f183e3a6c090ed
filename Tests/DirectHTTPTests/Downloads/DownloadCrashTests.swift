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

    @Test("A crash at any byte leaves files that are continued by exactly what is missing, or discarded")
    func everyByte() async throws {
        for saved in 0...24 {
            for size in 0...24 {
                // Of what was not made permanent a crash of the system may leave anything, zeros for example.
                let rest = [UInt8](repeating: 0, count: max(0, size - saved))
                let part = Array(content.prefix(min(size, saved))) + rest
                if saved > 0 { try plant(part, record(of: saved)) } else { try place(part, "film.part") }
                let start = min(saved, 23)
                let isKept = saved > 0 && size >= saved
                let asked = try await restart(leaving: saved > 0 || size == 0 ? [] : ["film.part"])
                #expect(asked == [isKept ? "bytes=\(start)-" : nil], "\(saved) of \(size)")
            }
        }
    }

    @Test(
        "A record that is cut or damaged at any byte is discarded, and so is the file if the record still shows that it is its own"
    )
    func everyByteOfTheRecord() async throws {
        let record = try record(of: 20)
        let title = DownloadRecord.title.utf8.count + 1
        // The record on the disk names its file as well, in a line whose length differs.
        var (index, count) = (0, 1)
        while index < count {
            for isCut in [true, false] {
                try plant(content.prefix(20), record)
                var bytes = try folder.read("film.part.info")
                count = bytes.count
                let heading = count - (record.count - title)
                if isCut || index >= count {
                    bytes = Array(bytes.prefix(index))
                } else {
                    bytes[index] ^= 0x20
                }
                try place(bytes, "film.part.info")
                let foreign =
                    index < title ? ["film.part", "film.part.info"] : index < heading ? ["film.part"] : []
                #expect(
                    try await restart(leaving: foreign) == [nil],
                    "\(isCut ? "cut" : "damaged") at \(index)"
                )
            }
            index += 1
        }
        #expect(index > record.count)
    }

    @Test("A partial file that differs in any byte from what its record counts is discarded")
    func everyByteOfTheFile() async throws {
        for index in 0..<20 {
            var wrong = Array(content.prefix(20))
            wrong[index] ^= 1
            try plant(wrong, record(of: 20))
            #expect(try await restart() == [nil])
        }
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

    @Test("Where files have no time of creation, a file with other bytes than the record says is left alone")
    func timeless() throws {
        let owner = PartialFile.Owner(title: PartialFile.Owner.titleOfDownloads, created: { _ in 0 })
        let whole = Representation(url: url, validator: .entityTag("\"1\""), length: 24)
        let path = folder.path + "/film"
        for isOwn in [true, false] {
            let first = try #require(try PartialDownload.open(path, mode: 0o600, of: owner))
            try first.load()
            try first.begin(whole)
            try first.append(Array(content.prefix(20)))
            first.close()
            if !isOwn { try Data("precious".utf8).write(to: URL(filePath: path + ".part")) }
            chmod(path + ".part", 0o600)
            let next = try #require(try PartialDownload.open(path, mode: 0o600, of: owner))
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
            guard let bytes = try? folder.read("film.part.info"), let record = recordOnDisk(bytes) else {
                continue
            }
            if records.last != record.savedBytes { records.append(record.savedBytes) }
        }
        // Every MiB at first, and every eighth of the file later.
        #expect(records.first == 1 << 20 && records.count < 20 && (records.last ?? 0) > 17 << 20)
        partial.close(discarding: true)
        #expect(folder.names.isEmpty)
    }
}
