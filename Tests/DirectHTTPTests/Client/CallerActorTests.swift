import DirectCore
import DirectHTTP
import DirectTestCommands
import Dispatch
import TLSFixtures
import Testing

@Suite("Callers that are actors", .idleLimit)
struct CallerActorTests {
    @Test("A request does not run on the actor of its caller")
    func runsElsewhere() async throws {
        let server = try FixtureServer.start { _ in .text("a") }
        let caller = Caller()
        let places = Locked<[Bool]>([])
        let client = HTTPClient.untimed {
            $0.interceptors = [
                { request, forward in
                    places.withLock { $0.append(Caller.isCurrent) }
                    return try await forward(request)
                }
            ]
        }
        let texts = try await caller.texts(of: Request(.get, server.http()), from: client)
        #expect(texts == ["a", "a", "a"])
        #expect(places.withLock { $0 } == [false, false, false])
    }

    @Test("An actor gets the error of a request on itself")
    func errorsThere() async throws {
        let server = try FixtureServer.start(behaviour: .bytes([.awaitHead, .cut]))
        let caller = Caller()
        let count = await caller.errors(of: Request(.get, server.http()), from: .untimed())
        #expect(count == 4)
    }

    @Test("An actor gets an error on itself from a function that catches what a concurrent one throws")
    func errorsPassedOn() async throws {
        #expect(await Caller().hasError(from: .untimed()))
    }
}

/// As docs/Deployment.md writes it: with `try await` alone the caller's `catch` would run elsewhere.
nonisolated(nonsending) private func warmUp(_ client: HTTPClient, for url: String) async throws {
    do { try await client.prewarm(url) } catch { throw error }
}

/// An actor with a queue of its own, so that it can be told what runs on it.
private actor Caller {
    private static let key = DispatchSpecificKey<Bool>()
    private let executor = QueueExecutor(key: key)

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

    func texts(of request: HTTPClient.Request, from client: HTTPClient) async throws -> [String?] {
        #expect(Self.isCurrent)
        let fetched = try await client.fetch(request)
        #expect(Self.isCurrent)
        let sent = try await client.send(request)
        #expect(Self.isCurrent)
        let body = try await sent.body.collect(upTo: 10)
        let got = try await client.get(request.url.text)
        #expect(Self.isCurrent)
        return [fetched.text, got.text, String(decoding: body, as: UTF8.self)]
    }

    /// Returns how many ways to make a request failed.
    func errors(of request: HTTPClient.Request, from client: HTTPClient) async -> Int {
        var count = 0
        do { _ = try await client.fetch(request) } catch { count += counted(error) }
        do { _ = try await client.send(request) } catch { count += counted(error) }
        do { _ = try await client.get(request.url.text) } catch { count += counted(error) }
        do { _ = try await client.get("") } catch { count += counted(error) }
        return count
    }

    func hasError(from client: HTTPClient) async -> Bool {
        do { try await warmUp(client, for: "") } catch { return counted(error) == 1 }
        return false
    }

    private func counted(_ error: any Error) -> Int {
        #expect(Self.isCurrent, "\(error)")
        return 1
    }
}

private final class QueueExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "caller")

    init(key: DispatchSpecificKey<Bool>) {
        queue.setSpecific(key: key, value: true)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
