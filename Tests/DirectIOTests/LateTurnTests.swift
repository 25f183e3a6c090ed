import DirectCore
import DirectTestCommands
import DirectTestPeers
import DirectTestTime
import Testing

@testable import DirectIO

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

@Suite("Tasks that run late", .idleLimit)
struct LateTurnTests {
    private let loop = EventLoop.shared

    @Test("An event before the deadline counts, although the task runs after the deadline")
    func eventInTime() async {
        let executor = HeldExecutor()
        let handle = LoopHandle(loop: loop)
        loop.add(handle)
        defer { loop.remove(handle) }
        let deadline = Instant.now.advanced(byNanoseconds: 30_000_000)
        let task = Task(executorPreference: executor) { [loop] in
            await handle.input.wait(until: deadline, on: loop)
        }
        await executor.runNext()
        handle.input.signal()
        await passDeadline(deadline)
        executor.release()
        #expect(await task.value == .ready)
    }

    @Test("Without an event before the deadline the wait ends with the deadline")
    func noEvent() async {
        let executor = HeldExecutor()
        let handle = LoopHandle(loop: loop)
        loop.add(handle)
        defer { loop.remove(handle) }
        let deadline = Instant.now.advanced(byNanoseconds: 30_000_000)
        let task = Task(executorPreference: executor) { [loop] in
            await handle.input.wait(until: deadline, on: loop)
        }
        await executor.runNext()
        await passDeadline(deadline)
        executor.release()
        #expect(await task.value == .expired)
    }

    /// 40 sockets are more than one poll reports.
    @Test("What has arrived while a job kept the loop counts, although the deadlines have passed")
    func busyLoop() async throws {
        let clock = HeldClock()
        let loop = EventLoop(clock: clock)
        let pairs = try await Self.connections(40, on: loop)
        let idle = try await Self.connection(on: loop)
        let deadline = loop.now.advanced(byNanoseconds: 1_000_000_000)
        let waits = (pairs + [idle]).map { pair in
            Task.detached(executorPreference: loop) {
                await pair.socket.input.wait(until: deadline, on: loop)
            }
        }
        try await Task.detached(executorPreference: loop) {
            // One job, in which the loop cannot look at anything.
            for pair in pairs { try pair.peer.send("x") }
            clock.advance(by: .seconds(2))
            // A job is left for the next turn, so this one looks at the deadlines.
            await loop.yield()
        }.value
        for wait in waits.dropLast() { #expect(await wait.value == .ready) }
        #expect(await waits.last?.value == .expired)
        for pair in pairs + [idle] { pair.socket.close() }
    }

    @Test("Traffic that does not stop puts a deadline off by one look at the socket")
    func steadyTraffic() async throws {
        let clock = HeldClock()
        let loop = EventLoop(clock: clock)
        let pair = try await Self.connection(on: loop)
        let deadline = loop.now.advanced(byNanoseconds: 1_000_000_000)
        clock.advance(by: .seconds(2))
        let wakes = try await Task.detached(executorPreference: loop) {
            try await loop.sleep(until: deadline)
            var wakes: [WaitPoint.Wake] = []
            while wakes.count < 10, wakes.last != .expired {
                // It has arrived, and the loop has not seen it yet.
                try pair.peer.send("x")
                wakes.append(await pair.socket.input.wait(until: deadline, on: loop))
                var bytes = [UInt8](repeating: 0, count: 16)
                _ = pair.socket.receive(into: &bytes, count: bytes.count)
            }
            return wakes
        }.value
        #expect(wakes == [.ready, .expired])
        pair.socket.close()
    }

    @Test(
        "What another thread does after a stop of the process counts, but is not waited for",
        arguments: [true, false]
    )
    func stopped(isAnswered: Bool) async {
        let loop = EventLoop()
        let handle = LoopHandle(loop: loop)
        loop.add(handle)
        defer { loop.remove(handle) }
        let wake = await Task.detached(executorPreference: loop) {
            var (deadline, wait) = (loop.now, nil as Task<WaitPoint.Wake, Never>?)
            // Again if the machine is so slow that the deadline has passed.
            while loop.waitCount(until: deadline) == 0 {
                _ = await wait?.value
                deadline = loop.now.advanced(byNanoseconds: 200_000_000)
                wait = Task(executorPreference: loop) { [deadline] in
                    await handle.input.wait(until: deadline, on: loop)
                }
                await loop.yield()
            }
            // One job, in which the loop cannot look at anything.
            while loop.now < deadline.advanced(byNanoseconds: 150_000_000) { sched_yield() }
            // The look at the deadline, then what a thread does that has its first turn now.
            await loop.yield()
            if isAnswered { handle.input.signal() }
            return await wait?.value
        }.value
        #expect(wake == (isAnswered ? .ready : .expired))
    }

    @Test(
        "A sleep for another task is spared after a stop of the process, and no other",
        arguments: [true, false]
    )
    func sparedSleep(isForThread: Bool) async {
        let loop = EventLoop()
        let hasPassed = await Task.detached(executorPreference: loop) {
            var (deadline, sleep) = (loop.now, nil as Task<Bool, Never>?)
            // Again if the machine is so slow that the deadline has passed.
            while loop.waitCount(until: deadline) == 0 {
                _ = await sleep?.value
                deadline = loop.now.advanced(byNanoseconds: 200_000_000)
                sleep = Task(executorPreference: loop) { [deadline] in
                    (try? await loop.sleep(until: deadline, isForThread: isForThread)) != nil
                }
                await loop.yield()
            }
            // One job, in which the loop cannot look at anything.
            while loop.now < deadline.advanced(byNanoseconds: 150_000_000) { sched_yield() }
            // The look at the deadline.
            await loop.yield()
            sleep?.cancel()
            return await sleep?.value
        }.value
        #expect(hasPassed == !isForThread)
    }

    @Test("Jobs that have arrived at each look do not put deadlines off")
    func steadyArrivals() async {
        let clock = HeldClock()
        let loop = EventLoop(clock: clock)
        let handle = LoopHandle(loop: loop)
        loop.add(handle)
        defer { loop.remove(handle) }
        let deadline = loop.now.advanced(byNanoseconds: 1_000_000_000)
        clock.advance(by: .seconds(2))
        let arrivals = Arrivals(at: loop)
        arrivals.begin()
        #expect(await handle.input.wait(until: deadline, on: loop) == .expired)
        arrivals.end()
    }

    private static func connections(
        _ count: Int,
        on loop: EventLoop
    ) async throws -> [(socket: Socket, peer: Peer)] {
        var all: [(socket: Socket, peer: Peer)] = []
        for _ in 0..<count { all.append(try await connection(on: loop)) }
        return all
    }

    private static func connection(on loop: EventLoop) async throws -> (socket: Socket, peer: Peer) {
        let listener = try Listener()
        let socket = try Socket.connecting(to: listener.address, port: listener.port, on: loop)
        #expect(await socket.output.wait(until: .never, on: loop) == .ready)
        return (socket, try listener.accept())
    }

    /// Returns when the loop has looked at the deadlines after this one.
    private func passDeadline(_ deadline: Instant) async {
        let later = LoopHandle(loop: loop)
        loop.add(later)
        defer { loop.remove(later) }
        let end = deadline.advanced(byNanoseconds: 20_000_000)
        #expect(await later.input.wait(until: end, on: loop) == .expired)
    }
}

/// Jobs of which each keeps its loop until another thread has enqueued the next one.
private final class Arrivals: Sendable {
    private let loop: EventLoop
    private let other = BlockingWork(threadLimit: 1)
    private let isOver = Locked(false)

    init(at loop: EventLoop) { self.loop = loop }

    func begin() {
        Task.detached(executorPreference: loop) { self.next() }
    }

    func end() { isOver.withLock { $0 = true } }

    private func next() {
        guard !isOver.withLock({ $0 }) else { return }
        let hasArrived = DiskGate()
        other.submit {
            self.begin()
            hasArrived.open()
        }
        hasArrived.wait()
    }
}
