import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestResolvers
import DirectTestTime
import Foundation
import Testing

@testable import DirectHTTP
@testable import DirectResolvers

@Suite("The file of a resolver cache", .idleLimit)
struct AnswerFileTests {
    private let time = HeldTime()
    private let path = NSTemporaryDirectory() + "answers-\(UUID())"

    private func line(_ host: String = "a.test", expiry: Int64, seconds: Int64 = 60) -> AnswerFile.Line {
        AnswerFile.Line(
            key: AnswerKey(host: .test(host), port: 0),
            expiry: UnixTime(seconds: expiry),
            seconds: seconds,
            endpoints: ["192.0.2.1"],
            author: .resolver("up")
        )
    }

    private func cache(
        _ resolver: any Resolver = ScriptedResolver("up", .refused("offline")),
        threads: BlockingWork = .shared,
        staleTime: Duration = .zero
    ) -> CachingResolver {
        var settings = CachingResolver.Settings()
        settings.file = path
        settings.staleTime = staleTime
        return CachingResolver(resolver, settings, loop: time.loop, threads: threads)
    }

    @Test("An answer of a file that was written under a later clock is valid no longer than when it came")
    func laterClock() throws {
        let cache = cache()
        let date = time.loop.date.seconds
        let text = AnswerFile.write([line(expiry: date + 90_000), line("b.test", expiry: date + 20)])
        cache.restore(text, date: UnixTime(seconds: date))
        #expect(cache.contents.map(\.timeLeft) == [.seconds(60), .seconds(20)])
        // A device without a battery begins at 1970.
        let reset = self.cache()
        reset.restore(text, date: UnixTime(seconds: 0))
        #expect(reset.contents.map(\.timeLeft) == [.seconds(60), .seconds(60)])
    }

    @Test("Stale answers that expired before the machine was started may still be used")
    func restart() throws {
        let sinceStart = Int64(time.now.nanoseconds / 1_000_000_000)
        let cache = cache(staleTime: .seconds(sinceStart + 7200))
        let date = time.loop.date.seconds
        let text = AnswerFile.write([
            line(expiry: date - sinceStart - 3600), line("b.test", expiry: date - sinceStart - 7200),
        ])
        cache.restore(text, date: UnixTime(seconds: date))
        #expect(cache.contents.map(\.host) == [.test("a.test")])
        #expect(cache.contents.first?.timeLeft == .seconds(-sinceStart - 3600))
        let answer = try cache.knownAnswer(
            for: .test("a.test"),
            port: 443,
            context: ResolveContext(on: time.loop)
        )
        #expect(answer?.source.freshness == .stale)
    }

    @Test("Answers that may not be used any more leave the file, and the table with the next save")
    func deadAnswers() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let upstream = ScriptedResolver("up") { host, _ in
            let seconds = host.text == "long.test" ? 600 : 100
            return Resolution(["192.0.2.1"], timeToLive: .seconds(seconds), source: .resolver("up"))
        }
        let cache = cache(upstream)
        await cache.warmUp(["long.test", "a.test", "b.test"].map { .test($0) })
        time.advance(by: .seconds(200))
        try await cache.save()
        let text = try #require(try StateFile.read(path, limit: 10_000))
        #expect(AnswerFile.read(text).map(\.key.host) == [.test("long.test")])
        #expect(cache.contents.map(\.host) == [.test("long.test")])
    }

    @Test("The limit of a disk that hangs is no failure of the resolver, though the caller's clock is ahead")
    func callerAhead() async throws {
        let (disk, gate, ahead) = (BlockingWork(threadLimit: 1), DiskGate(), HeldTime())
        defer { gate.open() }
        await disk.stop(until: gate)
        let cache = cache(ScriptedResolver("up", ["192.0.2.1"]), threads: disk)
        let asked = Task {
            try await cache.resolve(.test("a.test"), port: 443, context: ResolveContext(on: ahead.loop))
        }
        // The loop of the cache has not looked at its clock since.
        try await ahead.pass(.seconds(5))
        #expect(try await asked.value.endpoints == ["192.0.2.1"])
    }

    /// What the file has, by name.
    private func saved() throws -> [String: [Endpoint]] {
        let text = try #require(try StateFile.read(path, limit: 1 << 20))
        return Dictionary(
            uniqueKeysWithValues: AnswerFile.read(text).map { ($0.key.host.text, $0.endpoints) }
        )
    }

    private func answering(_ endpoint: Endpoint = "192.0.2.1") -> ScriptedResolver {
        ScriptedResolver("up", [endpoint], timeToLive: .seconds(600))
    }

    @Test("A file that was not read for its disk's slowness keeps its answers when the next ones are written")
    func givenUp() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let writer = cache(answering())
        await writer.warmUp((0..<20).map { .test("n\($0).test") })
        try await writer.save()
        let (disk, gate) = (BlockingWork(threadLimit: 2), DiskGate())
        await disk.stop(until: gate)
        await disk.stop(until: gate)
        let reader = cache(answering("192.0.2.2"), threads: disk)
        let asked = Task { try await reader.endpoints("n0.test", on: time.loop) }
        try await time.pass(.seconds(5))
        #expect(try await asked.value == ["192.0.2.2"])
        gate.open()
        try await reader.save()
        let saved = try saved()
        #expect(saved.count == 20)
        #expect(saved["n0.test"] == ["192.0.2.2"] && saved["n1.test"] == ["192.0.2.1"])
    }

    @Test("What is no file, or a file that others may write to, is left as it is by a save")
    func notReadable() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(mkfifo(path, 0o600) == 0)
        let cache = cache(answering())
        #expect(try await cache.endpoints(on: time.loop) == ["192.0.2.1"])
        await #expect(throws: SystemError.self) { try await cache.save() }
        var facts = stat()
        #expect(lstat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFIFO)
        #expect(unlink(path) == 0)
        let text = AnswerFile.write([line(expiry: 4_000_000_000)])
        #expect(FileManager.default.createFile(atPath: path, contents: Data(text)))
        #expect(chmod(path, 0o666) == 0)
        await #expect(throws: SystemError.self) { try await cache.save() }
        #expect(FileManager.default.contents(atPath: path) == Data(text))
    }

    @Test(
        "A file that begins otherwise, a user's or one of a later version, is left as it is by every save",
        arguments: ["direct-http answers 2\na line\n", "dear diary\n", "\0\u{1}\u{2}"]
    )
    func anotherFile(_ text: String) async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(FileManager.default.createFile(atPath: path, contents: Data(text.utf8)))
        #expect(chmod(path, 0o600) == 0)
        let cache = cache(answering())
        await cache.warmUp([.test("a.test")])
        for isWhole in [false, true] {
            await #expect(throws: SystemError.self) { try await cache.save(isWhole: isWhole) }
            #expect(FileManager.default.contents(atPath: path) == Data(text.utf8))
        }
        cache.forgetAll()
        await #expect(throws: SystemError.self) { try await cache.save() }
        #expect(FileManager.default.contents(atPath: path) == Data(text.utf8))
    }

    @Test("A save ends after half a minute, and however many there are, a disk that hangs holds one thread")
    func hangingSave() async throws {
        let (disk, gate) = (BlockingWork(threadLimit: 1), DiskGate())
        defer { gate.open() }
        await disk.stop(until: gate)
        let cache = cache(answering(), threads: disk)
        for _ in 0..<3 {
            let saved = Task { try await cache.save() }
            try await time.pass(.seconds(30))
            await #expect(throws: SystemError.silent) { try await saved.value }
            #expect(disk.waiting == 1)
        }
    }

    @Test("Several processes with one file have the answers of all of them in it, however they write")
    func sharedFile() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let caches = (0..<4).map { _ in cache(answering()) }
        await withTaskGroup(of: Void.self) { group in
            for (number, cache) in caches.enumerated() {
                group.addTask {
                    for round in 0..<25 {
                        await cache.warmUp([.test("n\(number)-\(round).test")])
                        // Of two that replace the file at the same moment one may win.
                        try? await cache.save(isWhole: number == 0 && round % 5 == 4)
                    }
                }
            }
        }
        #expect(try saved().count == 100)
    }

    @Test("Of several processes that save at the same moment none loses its answers")
    func savedAtOnce() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        for round in 1...4 {
            let caches = (0..<6).map { _ in cache(answering()) }
            for (number, cache) in caches.enumerated() {
                await cache.warmUp((0..<50).map { .test("n\(round)-\(number)-\($0).test") })
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for cache in caches { group.addTask { try await cache.save() } }
                try await group.waitForAll()
            }
            #expect(try saved().count == round * 300)
        }
    }

    @Test("New answers are appended to the file; it is written anew when most of it does not count")
    func appending() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let cache = cache(answering())
        await cache.warmUp([.test("first.test")])
        try await cache.save(isWhole: false)
        let begin = try #require(try StateFile.read(path, limit: 1 << 20))
        await cache.warmUp([.test("a.test")])
        try await cache.save(isWhole: false)
        #expect(try #require(try StateFile.read(path, limit: 1 << 20)).starts(with: begin))
        var sizes: [Int] = []
        for _ in 0..<40 {
            time.advance(by: .seconds(601))
            await cache.warmUp((0..<50).map { .test("n\($0).test") })
            try await cache.save(isWhole: false)
            sizes.append(try #require(try StateFile.read(path, limit: 1 << 20)).count)
        }
        #expect(sizes.max() ?? 0 < 80_000 && zip(sizes, sizes.dropFirst()).contains { $0 > $1 })
        #expect(try saved().count == 50)
    }

    @Test("A line that a killed process has left half written spoils no line that comes after it")
    func halfALine() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let date = time.loop.date.seconds
        let text = AnswerFile.write([line(expiry: date + 60), line("b.test", expiry: date + 60)])
        for count in [0, 5, 22, 40, text.count - 30, text.count - 1] {
            #expect(FileManager.default.createFile(atPath: path, contents: Data(text.prefix(count))))
            let cache = cache(answering("192.0.2.9"))
            await cache.warmUp([.test("c.test")])
            try await cache.save(isWhole: false)
            let known = AnswerFile.read(Array(text.prefix(count))).map(\.key.host.text)
            #expect(try Set(saved().keys) == Set(known + ["c.test"]), "\(count)")
        }
    }

    @Test("A file of the version before is read, and its lines are kept beside those of this one")
    func formerFile() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let former = """
            direct-http answers 1
            53ee9313 a.test 0 4000000000 600 any - 192.0.2.7 [2001:db8::7]:8443 by resolver up
            053eba3b b.test 8080/http 4000000000 600 ordered c.test 192.0.2.8 by map
            00000000 c.test 0 4000000000 600 any - 192.0.2.9 by resolver up

            """
        #expect(FileManager.default.createFile(atPath: path, contents: Data(former.utf8)))
        let cache = cache(answering())
        #expect(try await cache.endpoints(on: time.loop) == ["192.0.2.7", "[2001:db8::7]:8443"])
        await cache.warmUp([.test("d.test")])
        try await cache.save(isWhole: false)
        #expect(try Set(saved().keys) == ["a.test", "b.test", "d.test"])
        try await cache.save()
        #expect(try Set(saved().keys) == ["a.test", "b.test", "d.test"])
    }

    @Test("Answers of a resolver of another name, and the system's where it may not be asked, are not used")
    func otherPolicy() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let writer = cache(answering())
        await writer.warmUp([.test("a.test")])
        try await writer.save()
        let other = cache(ScriptedResolver("other", ["192.0.2.2"], timeToLive: .seconds(600)))
        #expect(try await other.endpoints(on: time.loop) == ["192.0.2.2"])
        var system = line(expiry: 4_000_000_000)
        system.author = .system
        #expect(FileManager.default.createFile(atPath: path, contents: Data(AnswerFile.write([system]))))
        #expect(try await cache(answering("192.0.2.3")).endpoints(on: time.loop) == ["192.0.2.3"])
    }

    @Test("When all is forgotten, the file forgets as well, also what other processes have written")
    func forgotten() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let (first, second) = (cache(answering()), cache(answering()))
        await first.warmUp([.test("a.test")])
        await second.warmUp([.test("b.test")])
        try await first.save()
        try await second.save()
        #expect(try saved().count == 2)
        first.forgetAll()
        await first.warmUp([.test("c.test")])
        try await first.save(isWhole: false)
        #expect(try Set(saved().keys) == ["c.test"])
    }
}

extension AnswerFile {
    /// Returns the text of a file with these answers.
    static func write(_ lines: some Sequence<Line>) -> [UInt8] { heading + text(of: lines) }
}
