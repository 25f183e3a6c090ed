import DirectCore
import DirectTestCommands
import DirectTestTime
import Testing

@testable import DirectIO

@Suite("Permits", .idleLimit)
struct PermitsTests {
    private let time = HeldTime()

    @Test("Permits are given in the order of the questions, and one that came too late is given back")
    func order() async throws {
        let (permits, loop) = (Permits(1, most: 1), time.loop)
        let first = try await permits.take(on: loop) { .never }
        let taken = Locked<[Int]>([])
        let late = Task { [end = time.moment(after: .seconds(1))] in
            _ = try await permits.take(on: loop) { end }
        }
        try await time.waitBegins(for: .seconds(1))
        let waiting = (0..<3).map { number in
            Task {
                let permit = try await permits.take(on: loop) { .never }
                taken.withLock { $0.append(number) }
                permits.give(permit)
            }
        }
        waiting[0].cancel()
        await #expect(throws: BlockingWork.Abandoned.cancelled) { try await waiting[0].value }
        time.advance(by: .seconds(1))
        await #expect(throws: BlockingWork.Abandoned.expired) { try await late.value }
        permits.give(first)
        for task in waiting.dropFirst() { try await task.value }
        #expect(Set(taken.withLock { $0 }) == [1, 2])
        _ = try await permits.take(on: loop) { .never }
    }

    @Test("A permit whose question is silent for a second does not count while others wait, up to a limit")
    func silence() async throws {
        let (permits, loop) = (Permits(2, most: 5), time.loop)
        let (taken, silent, kept) = (Locked(0), Locked(0), Locked(0))
        let tasks = (0..<7).map { number in
            Task {
                let permit = try await permits.take(on: loop, whileBefore: { .never }) {
                    kept.withLock { $0 += 1 }
                }
                permits.begin(permit, on: loop) { silent.withLock { $0 += 1 } }
                taken.withLock { $0 += 1 }
                return permit
            }
        }
        while taken.withLock({ $0 }) < 2 { await time.settle() }
        try await time.waitBegins(for: .seconds(1))
        time.advance(by: .milliseconds(999))
        await time.letFaultsShow()
        #expect(taken.withLock { $0 } == 2 && silent.withLock { $0 } == 0)
        time.advance(by: .milliseconds(1))
        // Two that are silent make room for two, and for one more each, but five are all there are.
        while taken.withLock({ $0 }) < 5 || kept.withLock({ $0 }) < 2 { await time.settle() }
        #expect(silent.withLock { $0 } == 2 && kept.withLock { $0 } == 2)
        try await time.pass(.seconds(1))
        await time.letFaultsShow()
        #expect(taken.withLock { $0 } == 5)
        for task in tasks { task.cancel() }
        for task in tasks { if let permit = try? await task.value { permits.give(permit) } }
        // All of them are free again.
        for _ in 0..<2 { _ = try await permits.take(on: loop) { .never } }
    }
}
