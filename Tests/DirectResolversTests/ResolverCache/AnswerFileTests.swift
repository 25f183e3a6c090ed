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
}
