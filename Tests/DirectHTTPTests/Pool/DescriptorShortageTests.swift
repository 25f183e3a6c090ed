@testable import DirectCore
@testable import DirectIO
import DirectTestCommands
import DirectTestTime
@testable import DirectTransport
import Foundation
import Testing

@testable import DirectHTTP

/// Shortages in which no idle connection makes room, on a clock that the test advances.
@Suite("Waiting for a descriptor", .idleLimit)
struct DescriptorShortageTests {
    private let time = HeldTime()
    private let tries = Locked(0)
    private let shortage = DescriptorShortage(queue: DescriptorQueue(), closeIdleConnection: { false })

    private func room(queue: Duration, total: Duration? = nil) -> Deadline {
        let end = total.map { time.moment(after: $0) } ?? .never
        let limit = CallLimit(Timeouts(queue: queue, total: total).nanoseconds, until: end)
        return limit.deadline(.queue, stall: limit.timeouts.queue, from: time.loop.now)
    }

    /// A look-up of the system's resolver that lacks a descriptor so many times.
    private func lookup(failing count: Int) throws(DialFailure) -> String {
        let number = tries.withLock { tries in
            tries += 1
            return tries
        }
        guard number <= count else { return "an answer" }
        let error = LookupError(code: EAI_SYSTEM, systemCode: EMFILE)
        throw DialFailure(cause: .failed(.resolve, .lookup(error)))
    }

    @Test("The system's resolver is asked every 50 milliseconds until it gets one")
    func lookup() async throws {
        let room = room(queue: .seconds(7))
        let answer = Task {
            try await shortage.retryLookup(room, on: time.loop) { () async throws(DialFailure) in
                try lookup(failing: 3)
            }
        }
        for _ in 0..<3 { try await time.pass(.milliseconds(50)) }
        #expect(try await answer.value == "an answer" && tries.withLock { $0 } == 4)
    }

    @Test("When the time limit of the queue has passed, the lack of a descriptor is the error of the look-up")
    func lookupInVain() async throws {
        let room = room(queue: .milliseconds(120))
        let answer = Task {
            try await shortage.retryLookup(room, on: time.loop) { () async throws(DialFailure) in
                try lookup(failing: .max)
            }
        }
        for pause in [50, 50, 20] { try await time.pass(.milliseconds(pause)) }
        let failure = await #expect(throws: DialFailure.self) { try await answer.value }
        #expect(failure?.cause.isDescriptorShortage == true && tries.withLock { $0 } == 4)
    }

    @Test("A cancelled look-up is not asked again")
    func cancelledLookup() async throws {
        let room = room(queue: .seconds(7))
        let answer = Task {
            try await shortage.retryLookup(room, on: time.loop) { () async throws(DialFailure) in
                try lookup(failing: .max)
            }
        }
        try await time.waitBegins(for: .milliseconds(50))
        answer.cancel()
        let failure = await #expect(throws: DialFailure.self) { try await answer.value }
        guard case .cancelled? = failure?.cause else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(tries.withLock { $0 } == 1)
    }

    @Test(
        "A call that ends while a socket waits for a descriptor has timed out in the queue, with its own limit"
    )
    func socketAtTheEnd() async throws {
        let room = room(queue: .seconds(7), total: .milliseconds(80))
        let opened = Task {
            try await shortage.openSocket(room, on: time.loop) { () throws(TransportError) in
                tries.withLock { $0 += 1 }
                throw .failed(.connect, .system(SystemError("socket", code: EMFILE)))
            }
        }
        for pause in [50, 30] { try await time.pass(.milliseconds(pause)) }
        let failure = await #expect(throws: TransportError.self) { _ = try await opened.value }
        guard case .failed(.queue, .timedOut(let limit))? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(limit == .milliseconds(80) && tries.withLock { $0 } == 4)
        #expect(shortage.queue.isEmpty)
    }
}
