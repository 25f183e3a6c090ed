import DirectCore
import DirectHTTP
@testable import DirectHTTPExtras
import DirectTestCommands
import DirectTestTime
import Dispatch
import Testing

@Suite("Requests a second", .idleLimit)
struct RequestRateTests {
    private let clock = ManualClock()
    private let sent = Locked<[String]>([])

    private func client(
        _ rate: RequestRate,
        _ configure: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) -> HTTPClient {
        HTTPClient.untimed {
            $0.networkInterceptors = [rate.interceptor]
            $0.transport = { [sent] request in
                let url = try request.url
                sent.withLock { $0.append(url.text) }
                return url.path == "/from"
                    ? try .init(to: request, 302, headers: ["Location": "/to"]) : try .init(to: request, 200)
            }
            configure(&$0)
        }
    }

    private func rate(_ perSecond: Double, burst: Int = 1, perOrigin: Bool = false) -> RequestRate {
        RequestRate(perSecond, burst: burst, perOrigin: perOrigin, clock: clock)
    }

    @Test(
        "After a burst one request goes a tick, in the order of arrival, and a pause saves no more than the burst"
    )
    func bucket() async throws {
        let rate = rate(10, burst: 2)
        let client = client(rate)
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<5 {
            tasks.append(Task { _ = try await client.get("http://a.test/\(number)") })
            if number < 2 { try await tasks[number].value } else { await rate.waiting(number - 1) }
        }
        for count in 3...5 {
            await clock.sleepers(1)
            clock.advance(by: .milliseconds(99))
            #expect(sent.withLock { $0.count } == count - 1)
            clock.advance(by: .milliseconds(1))
            try await tasks[count - 1].value
        }
        #expect(sent.withLock { $0 } == (0..<5).map { "http://a.test/\($0)" })
        clock.advance(by: .seconds(100))
        for _ in 0..<2 { _ = try await client.get("http://a.test/") }
        let late = Task { try await client.get("http://a.test/") }
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(100))
        _ = try await late.value
    }

    @Test("Calls that block all of libdispatch's threads get their turns")
    func blockingCallers() async {
        let client = client(RequestRate(1000))
        let answers = Locked(0)
        await withCheckedContinuation { continuation in
            let group = DispatchGroup()
            for number in 0..<200 {
                DispatchQueue.global().async(group: group) {
                    let answer = try? client.blocking.get("http://a.test/\(number)")
                    if answer != nil { answers.withLock { $0 += 1 } }
                }
            }
            group.notify(queue: .global()) { continuation.resume() }
        }
        #expect(answers.withLock { $0 } == 200)
    }

    @Test("A pause saves no more than the burst for those that wait as well, as when a machine sleeps")
    func pause() async throws {
        let rate = rate(10, burst: 2)
        let client = client(rate)
        for _ in 0..<2 { _ = try await client.get("http://a.test/") }
        let tasks = (0..<9).map { _ in Task { _ = try await client.get("http://a.test/") } }
        await rate.waiting(9)
        await clock.sleepers(1)
        clock.advance(by: .seconds(100))
        // The first one had its token already.
        while rate.waitingCount > 0, clock.sleeperCount == 0 { await Task.yield() }
        #expect(rate.waitingCount == 6)
        while rate.waitingCount > 0 {
            clock.advance(by: .milliseconds(100))
            await Task.yield()
        }
        for task in tasks { try await task.value }
    }

    @Test("Origins have tokens of their own if that is asked for, and redirects take one each")
    func origins() async throws {
        let apart = client(rate(1, perOrigin: true))
        for url in ["http://a.test/", "https://a.test/", "http://b.test/"] { _ = try await apart.get(url) }
        #expect(clock.sleeperCount == 0)
        let together = client(rate(1))
        let task = Task { try await together.get("http://a.test/from").url.path }
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        #expect(try await task.value == "/to")
    }

    @Test("A cancelled request gives its place up, and others behind it are not delayed by it")
    func cancelled() async throws {
        let client = client(rate(1))
        _ = try await client.get("http://a.test/1")
        let waiting = Task { try await client.get("http://a.test/2") }
        await clock.sleepers(1)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        await clock.sleepers(0)
        let next = Task { try await client.get("http://a.test/3") }
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        _ = try await next.value
        #expect(sent.withLock { $0 } == ["http://a.test/1", "http://a.test/3"])
    }

    @Test("Those behind requests that stop waiting move up, whichever those are")
    func movingUp() async throws {
        let rate = rate(1)
        let client = client(rate)
        _ = try await client.get("http://a.test/first")
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<6 {
            tasks.append(Task { _ = try await client.get("http://a.test/\(number)") })
            await rate.waiting(number + 1)
        }
        // The first ones first, as those whose time is over, and one in the middle.
        for number in [0, 1, 3] {
            tasks[number].cancel()
            await #expect(throws: CancellationError.self) { try await tasks[number].value }
        }
        for number in [2, 4, 5] {
            await clock.sleepers(1)
            clock.advance(by: .seconds(1))
            try await tasks[number].value
        }
        #expect(sent.withLock { $0 } == ["first", "2", "4", "5"].map { "http://a.test/\($0)" })
    }

    @Test("The deadline of the call ends the wait as any other")
    func deadline() async throws {
        let rate = rate(1)
        _ = try await client(rate).get("http://a.test/")
        let client = HTTPClient {
            $0.networkInterceptors = [rate.interceptor]
            $0.transport = { try .init(to: $0, 200) }
            $0.timeouts.total = .milliseconds(20)
        }
        do {
            _ = try await client.get("http://a.test/")
            Issue.record("the second token is not due")
        } catch let error as HTTPError {
            guard case .timedOut = error.reason else { throw error }
        }
    }

    @Test(
        "No rate is too small or too large, and no burst",
        arguments: [0, -1, .infinity, .nan, 1e300, 1e-300]
    )
    func extremes(perSecond: Double) async throws {
        for burst in [Int.min, 0, .max] {
            _ = try await client(rate(perSecond, burst: burst)).get("http://a.test/")
        }
    }
}

extension RequestRate {
    /// Waits until so many requests wait.
    fileprivate func waiting(_ count: Int) async {
        while waitingCount != count { await Task.yield() }
    }
}
