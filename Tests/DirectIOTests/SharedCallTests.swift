import DirectTestCommands
import DirectTestTime
import Testing

@testable import DirectCore
@testable import DirectIO

@Suite("Calls that several wait for", .idleLimit)
struct SharedCallTests {
    private let time = HeldTime()
    private let gate = Gate()
    private let begun = Locked(0)

    /// Asks for a call that ends when the gate is opened.
    private func ask(_ call: SharedCall<Int>, within limit: Duration, returns value: Int = 0) -> Task<
        Int, any Error
    > {
        Task { [time, gate, begun] in
            try await call.value(until: time.moment(after: limit), on: time.loop) {
                begun.withLock { $0 += 1 }
                gate.wait()
                return value
            }
        }
    }

    @Test("All who ask while a call runs get its result, and one who leaves does not end it")
    func shared() async throws {
        let call = SharedCall<Int>(on: BlockingWork(threadLimit: 8))
        var callers: [Task<Int, any Error>] = []
        for number in 0..<5 {
            callers.append(ask(call, within: .seconds(60 + number), returns: number))
            try await time.waitBegins(for: .seconds(60 + number))
        }
        callers[0].cancel()
        await #expect(throws: BlockingWork.Abandoned.cancelled) { try await callers[0].value }
        gate.open()
        for caller in callers.dropFirst() { #expect(try await caller.value == 0) }
        #expect(begun.withLock { $0 } == 1)
    }

    @Test("While a call hangs others are begun after a second, then after two, four and eight")
    func hanging() async throws {
        defer { gate.open() }
        let call = SharedCall<Int>(on: BlockingWork(threadLimit: 32))
        for second in 0..<16 {
            let caller = ask(call, within: .seconds(1))
            try await time.pass(.seconds(1))
            await #expect(throws: BlockingWork.Abandoned.expired) { try await caller.value }
            let expected = [0, 1, 3, 7, 15].count { $0 <= second }
            while begun.withLock({ $0 }) < expected { await Task.yield() }
        }
        #expect(begun.withLock { $0 } == 5)
    }

    @Test("Those who wait for a call that hangs get the result of a later one")
    func mended() async throws {
        defer { gate.open() }
        let call = SharedCall<Int>(on: BlockingWork(threadLimit: 8))
        let first = ask(call, within: .seconds(60))
        try await time.waitBegins(for: .seconds(60))
        time.advance(by: .seconds(1))
        #expect(try await call.value(until: .never, on: time.loop) { 42 } == 42)
        #expect(try await first.value == 42)
    }

    @Test("A call may be waited for up to an age, which one that hangs has reached")
    func age() async throws {
        defer { gate.open() }
        let call = SharedCall<Int>(on: BlockingWork(threadLimit: 8))
        let first = ask(call, within: .seconds(60))
        try await time.waitBegins(for: .seconds(60))
        time.advance(by: .seconds(1))
        let second = ask(call, within: .seconds(60))
        try await time.waitBegins(for: .seconds(60))
        time.advance(by: .milliseconds(1500))
        await #expect(throws: BlockingWork.Abandoned.expired) {
            try await call.value(until: .never, toAge: 1_000_000_000, on: time.loop) { 42 }
        }
        for caller in [first, second] { caller.cancel() }
    }

    @Test("A call fails if the system refuses its thread, and the next one is begun anew")
    func refused() async throws {
        let refusal = SystemError("pthread_create", code: 11)
        let call = SharedCall<Int>(on: BlockingWork(threadLimit: 2) { _, _ in refusal })
        for _ in 0..<2 {
            await #expect(throws: BlockingWork.Abandoned.refused(refusal)) {
                try await call.value(until: .never, on: time.loop) { 42 }
            }
        }
    }
}
