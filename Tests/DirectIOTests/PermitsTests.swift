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
        let (permits, loop) = (Permits(1), time.loop)
        try await permits.take(on: loop) { .never }
        let taken = Locked<[Int]>([])
        let late = Task { [end = time.moment(after: .seconds(1))] in
            try await permits.take(on: loop) { end }
        }
        try await time.waitBegins(for: .seconds(1))
        let waiting = (0..<3).map { number in
            Task {
                try await permits.take(on: loop) { .never }
                taken.withLock { $0.append(number) }
                permits.give()
            }
        }
        waiting[0].cancel()
        await #expect(throws: BlockingWork.Abandoned.cancelled) { try await waiting[0].value }
        time.advance(by: .seconds(1))
        await #expect(throws: BlockingWork.Abandoned.expired) { try await late.value }
        permits.give()
        for task in waiting.dropFirst() { try await task.value }
        #expect(Set(taken.withLock { $0 }) == [1, 2])
        try await permits.take(on: loop) { .never }
    }
}
