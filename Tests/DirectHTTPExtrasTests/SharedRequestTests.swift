import DirectCore
import DirectHTTP
import DirectTestCommands
import DirectTestTime
import Testing

@testable import DirectHTTPExtras

/// A transport whose answers wait until the test lets them go.
private final class HeldAnswers: Sendable {
    private let held = Locked<[CheckedContinuation<Void, Never>]>([])
    private let isOpen = Locked(false)
    let requests = Locked<[HTTPClient.Request]>([])
    let cancelled = Locked(0)

    func answer(_ request: HTTPClient.Request) async throws -> HTTPClient.Response {
        let number = requests.withLock {
            $0.append(request)
            return $0.count
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOpen = isOpen.withLock { isOpen in
                    if !isOpen { held.withLock { $0.append(continuation) } }
                    return isOpen
                }
                if isOpen { continuation.resume() }
            }
        } onCancel: {
            cancelled.withLock { $0 += 1 }
            open()
        }
        try Task.checkCancellation()
        return try .init(to: request, 200, body: Array("\(number)".utf8))
    }

    func open() {
        isOpen.withLock { $0 = true }
        for continuation in held.withLock({ held in
            defer { held = [] }
            return held
        }) { continuation.resume() }
    }
}

@Suite("Equal requests in flight", .idleLimit)
struct SharedRequestTests {
    private let answers = HeldAnswers()
    /// Its clock stands still: calls that begin at one time join each other's requests.
    private let clock = ManualClock()
    private let shared: SharedRequests

    init() { shared = SharedRequests(clock: clock) }

    private func client(_ other: SharedRequests? = nil) -> HTTPClient {
        HTTPClient.untimed {
            $0.interceptors = [(other ?? shared).interceptor]
            $0.transport = answers.answer
        }
    }

    /// Waits until so many calls have joined another one.
    private func joined(_ count: Int) async {
        while shared.waitingCount < count { await Task.yield() }
    }

    private func sent(_ count: Int) async {
        while answers.requests.withLock({ $0.count }) < count { await Task.yield() }
    }

    @Test("A token that a request begins to fetch waits for no request that waits for the token")
    func sharedWithToken() async throws {
        let place = Locked<HTTPClient?>(nil)
        let began = AsyncStream<Void>.makeStream()
        let (leads, mayGoOn) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
        let origin = try HTTPURL("https://a.test/").origin
        let client = HTTPClient.untimed {
            $0.interceptors = [
                shared.interceptor,
                { request, forward in
                    if request.method == .get { leads.continuation.finish() }
                    return try await forward(request)
                },
            ]
            $0.authenticators[origin] = .bearer(refreshing: {
                began.continuation.finish()
                for await _ in mayGoOn.stream {}
                let response = try await place.withLock { $0 }?.get("https://a.test/discovery")
                return response?.text ?? ""
            })
            $0.transport = { try .init(to: $0, 200, body: Array("token".utf8)) }
        }
        place.withLock { $0 = client }
        async let post = client.post("https://a.test/order", .text("x"))
        for await _ in began.stream {}
        // It leads a flight, and waits for the token; the token's source asks for the same URL.
        async let get = client.get("https://a.test/discovery")
        for await _ in leads.stream {}
        mayGoOn.continuation.finish()
        #expect(try await [post.status, get.status] == [200, 200])
        place.withLock { $0 = nil }
    }

    @Test("Equal GETs are made once, and all get the same response; the next one is made anew")
    func madeOnce() async throws {
        let client = client()
        let tasks = (0..<20).map { _ in Task { try await client.get("http://a.test/?q") } }
        await joined(19)
        answers.open()
        for task in tasks {
            let response = try await task.value
            #expect(response.text == "1" && response.url.text == "http://a.test/?q")
        }
        #expect(try await client.get("http://a.test/?q").text == "2")
    }

    @Test("Requests that differ in anything are made apart: fields, credentials, addresses, options, bodies")
    func apart() async throws {
        let client = client()
        var requests = [
            "http://a.test/", "https://a.test/", "http://a.test/?", "http://u:p@a.test/",
            "http://u:q@a.test/",
        ]
        .map { HTTPClient.Request(.get, $0) }
        requests.append(HTTPClient.Request(.head, "http://a.test/"))
        requests.append(HTTPClient.Request(.get, "http://a.test/", headers: ["Authorization": "x"]))
        requests.append(HTTPClient.Request(.get, "http://a.test/", headers: ["Cookie": "a=1"]))
        requests.append(HTTPClient.Request(.get, "http://a.test/", body: .text("x")))
        for change: (inout HTTPClient.Request) -> Void in [
            { $0.addresses = ["192.0.2.1"] }, { $0.authenticator = .bearer("a") }, { $0.tls = TLSSettings() },
            { $0.timeouts.total = .seconds(9) }, { $0.proxy = ProxySettings() }, { $0.tags[Int.self] = 1 },
            { $0.onDownload = { _ in } }, { $0.redirects = .deliver },
        ] {
            var request = HTTPClient.Request(.get, "http://a.test/")
            change(&request)
            requests.append(request)
            // Two of those with an option are no more equal; only addresses can be compared.
            if request.addresses == nil { requests.append(request) }
        }
        let tasks = requests.map { request in Task { try await client.fetch(request).status } }
        await sent(requests.count)
        answers.open()
        for task in tasks { _ = try await task.value }
        #expect(answers.requests.withLock { $0.count } == requests.count)
    }

    @Test("A caller that is cancelled stops waiting and the others go on, whichever made the request")
    func cancellation() async throws {
        let client = client()
        let first = Task { try await client.get("http://a.test/").text }
        await sent(1)
        let others = (0..<4).map { _ in Task { try await client.get("http://a.test/").text } }
        await joined(4)
        for task in others.dropLast(2) {
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(answers.cancelled.withLock { $0 } == 0)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        // One of the two that are left makes the request anew, for both.
        await sent(2)
        answers.open()
        for task in others.suffix(2) { #expect(try await task.value == "2") }
        let all = HeldAnswers()
        let second = HTTPClient.untimed {
            $0.interceptors = [SharedRequests().interceptor]
            $0.transport = all.answer
        }
        let alone = Task { try await second.get("http://a.test/") }
        while all.requests.withLock({ $0.isEmpty }) { await Task.yield() }
        alone.cancel()
        await #expect(throws: CancellationError.self) { try await alone.value }
        while all.cancelled.withLock({ $0 }) == 0 { await Task.yield() }
    }

    @Test("An error is everyone's, and so is a body over the limit")
    func errors() async throws {
        let failing = HTTPClient.untimed {
            $0.interceptors = [SharedRequests(upTo: 3).interceptor]
            $0.transport = { request in
                if try request.url.path == "/large" {
                    return try .init(to: request, 200, body: [1, 2, 3, 4])
                }
                throw HTTPError(.response, .connectionClosed)
            }
        }
        for path in ["/", "/large"] {
            let tasks = (0..<3).map { _ in Task { try await failing.get("http://a.test" + path) } }
            for task in tasks { await #expect(throws: HTTPError.self) { try await task.value } }
        }
    }

    @Test(
        "A shared response has the fields that were received, as one that is made alone, also if it stays coded"
    )
    func coded() async throws {
        let requests = ["gzip", nil].map { coding in
            HTTPClient.Request(.get, "http://a.test/", headers: coding.map { ["Accept-Encoding": $0] } ?? [:])
        }
        for request in requests {
            let made = HTTPHeaders([("Content-Encoding", request.headers["Accept-Encoding"] ?? "unknown")])
            let client = HTTPClient.untimed {
                $0.interceptors = [SharedRequests().interceptor]
                $0.transport = { try .init(to: $0, 200, headers: made, body: Array("coded".utf8)) }
            }
            let response = try await client.send(request)
            #expect(response.headers == made && response.body.decoding == .leftCoded)
            #expect(try await response.body.collect(upTo: 9) == Array("coded".utf8))
        }
    }

    @Test("A GET joins none that began before a change that has begun or ended since")
    func changes() async throws {
        let client = client()
        let before = Task { try await client.get("http://a.test/").text }
        await sent(1)
        let change = Task { try await client.post("http://a.test/").text }
        await sent(2)
        let during = Task { try await client.get("http://a.test/").text }
        await sent(3)
        answers.open()
        #expect(try await [before.value, change.value, during.value] == ["1", "2", "3"])
    }

    @Test("What the condition leaves out is made alone")
    func condition() async throws {
        let client = client(SharedRequests(where: { (try? $0.url.path) != "/stream" }))
        let tasks = (0..<2).map { _ in Task { try await client.get("http://a.test/stream").text } }
        await sent(2)
        answers.open()
        #expect(try await Set([tasks[0].value, tasks[1].value]) == ["1", "2"])
    }

    @Test("An interceptor may make the request for which it is asked: it does not wait for itself")
    func nested() async throws {
        let (depth, shared) = (Locked(0), SharedRequests())
        let client = HTTPClient.untimed {
            $0.interceptors = [
                shared.interceptor,
                { [depth] request, forward in
                    let isFirst = depth.withLock { depth in
                        depth += 1
                        return depth == 1
                    }
                    guard isFirst else { return try await forward(request) }
                    let other = HTTPClient.untimed {
                        $0.interceptors = [shared.interceptor]
                        $0.transport = { try .init(to: $0, 200, body: Array("inner".utf8)) }
                    }
                    #expect(try await other.get("http://a.test/").text == "inner")
                    return try await forward(request)
                },
            ]
            $0.transport = { try .init(to: $0, 200, body: Array("outer".utf8)) }
        }
        #expect(try await client.get("http://a.test/").text == "outer")
    }

    @Test("One whose time is over ends the wait of no other: the next one makes the request anew")
    func timeout() async throws {
        let answers = answers
        let client = HTTPClient.untimed {
            $0.interceptors = [shared.interceptor]
            $0.transport = { request in
                let response = try await answers.answer(request)
                guard try await response.body.collect(upTo: 9) != Array("1".utf8) else {
                    throw HTTPError(.response, .timedOut(after: .seconds(30)))
                }
                return try .init(to: request, 200, body: Array("2".utf8))
            }
        }
        let first = Task { try await client.get("http://a.test/") }
        await sent(1)
        let late = Task { try await client.get("http://a.test/").text }
        await joined(1)
        answers.open()
        await #expect(throws: HTTPError.self) { try await first.value }
        #expect(try await late.value == "2")
    }

    @Test(
        "If the time is over for the one that makes it anew as well, it is for all that have waited for that"
    )
    func severalTimeouts() async throws {
        let (answers, later) = (answers, HeldAnswers())
        let client = HTTPClient.untimed {
            $0.interceptors = [shared.interceptor]
            $0.transport = { request in
                let isFirst = answers.requests.withLock { $0.isEmpty }
                _ = try await (isFirst ? answers : later).answer(request)
                throw HTTPError(.response, .timedOut(after: isFirst ? .seconds(30) : .zero))
            }
        }
        let first = Task { try await client.get("http://a.test/") }
        await sent(1)
        let others = (0..<9).map { _ in Task { try await client.get("http://a.test/") } }
        await joined(9)
        answers.open()
        await #expect(throws: HTTPError.self) { try await first.value }
        while later.requests.withLock({ $0.isEmpty }) { await Task.yield() }
        await joined(8)
        later.open()
        for task in others { await #expect(throws: HTTPError.self) { try await task.value } }
        #expect(later.requests.withLock { $0.count } == 1)
    }

    @Test(
        "One that has come late has its own time, though it has waited for two whose time is over",
        arguments: [false, true]
    )
    func lastTimeout(isCancelled: Bool) async throws {
        let (answers, later) = (answers, HeldAnswers())
        let client = HTTPClient.untimed {
            $0.interceptors = [shared.interceptor]
            $0.transport = { request in
                let isFirst = answers.requests.withLock { $0.isEmpty }
                let response = try await (isFirst ? answers : later).answer(request)
                if !isFirst, later.requests.withLock({ $0.count }) > 1 { return response }
                throw HTTPError(.response, .timedOut(after: .seconds(30)))
            }
        }
        let first = Task { try await client.get("http://a.test/") }
        await sent(1)
        let others = (0..<2).map { _ in Task { try await client.get("http://a.test/").text } }
        await joined(2)
        if isCancelled { first.cancel() } else { answers.open() }
        await #expect(throws: (any Error).self) { try await first.value }
        while later.requests.withLock({ $0.isEmpty }) { await Task.yield() }
        await joined(1)
        later.open()
        var texts: [String?] = []
        for task in others { texts.append(try? await task.value) }
        #expect(texts.contains(nil) && texts.contains("2"))
    }

    /// A client whose first request is answered by `answers`, and each later one by `later`.
    private func client(
        _ later: HeldAnswers,
        _ configure: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) -> HTTPClient {
        HTTPClient.untimed {
            $0.interceptors = [shared.interceptor]
            $0.transport = { [answers] request in
                let isFirst = answers.requests.withLock { $0.isEmpty }
                return try await (isFirst ? answers : later).answer(request)
            }
            configure(&$0)
        }
    }

    @Test("A request that is made anew has the time that its call has not waited yet")
    func rest() async throws {
        let (time, later) = (HeldTime(), HeldAnswers())
        let client = client(later) {
            $0.loop = time.loop
            $0.timeouts.total = .seconds(10)
        }
        let first = Task { try await client.get("http://a.test/") }
        await sent(1)
        clock.advance(by: .seconds(1))
        let second = Task { try await client.get("http://a.test/") }
        await joined(1)
        clock.advance(by: .seconds(4))
        first.cancel()
        while later.requests.withLock({ $0.isEmpty }) { await Task.yield() }
        try await time.pass(.seconds(6))
        let error = await #expect(throws: HTTPError.self) { try await second.value }
        guard case .timedOut(after: .seconds(10)) = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("A call never waits for the request of one that began later, which has more time")
    func earlier() async throws {
        let later = HeldAnswers()
        let client = client(later)
        let first = Task { try await client.get("http://a.test/") }
        await sent(1)
        clock.advance(by: .seconds(1))
        let second = Task { try await client.get("http://a.test/").text }
        await joined(1)
        // What begins after this joins none of the two.
        let change = Task { try await client.post("http://a.test/").text }
        while later.requests.withLock({ $0.count }) < 1 { await Task.yield() }
        clock.advance(by: .seconds(1))
        let third = Task { try await client.get("http://a.test/").text }
        while later.requests.withLock({ $0.count }) < 2 { await Task.yield() }
        first.cancel()
        while later.requests.withLock({ $0.count }) < 3 { await Task.yield() }
        later.open()
        #expect(try await [change.value, third.value, second.value] == ["1", "2", "3"])
    }

    @Test("The others go on without one that is cancelled in code that ignores that")
    func silence() async throws {
        let (release, end) = AsyncStream<Never>.makeStream()
        let entered = Locked(0)
        let client = HTTPClient.untimed {
            $0.interceptors = [
                SharedRequests().interceptor,
                { request, forward in
                    let isFirst = entered.withLock { count in
                        count += 1
                        return count == 1
                    }
                    if isFirst { await Task.detached { for await _ in release {} }.value }
                    return try await forward(request)
                },
            ]
            $0.transport = { try .init(to: $0, 200) }
        }
        let first = Task { try await client.get("http://a.test/") }
        while entered.withLock({ $0 }) == 0 { await Task.yield() }
        let second = Task { try await client.get("http://a.test/").status }
        for _ in 0..<1000 { await Task.yield() }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(try await second.value == 200)
        end.finish()
    }
}
