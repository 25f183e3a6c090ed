import DirectCore
import DirectIO
@testable import DirectTransport
import Testing

@Suite("A race between addresses of which some are not known yet")
struct LateAddressesTests {
    @Test(
        "A race that is cancelled while only more addresses are awaited has no failure to report",
        arguments: [nil, 250_000_000]
    )
    func cancelled(stagger: UInt64?) async {
        let refused = AttemptFailure(phase: .connect, cause: .failed(.connect, .noAddresses))
        var race = HappyEyeballs(
            candidates: .init(endpoints: ["192.0.2.1"]),
            stagger: stagger,
            passesOverWrongServers: false,
            end: .never,
            loop: .shared,
            connect: { _ throws(AttemptFailure) in throw refused }
        )
        let (asked, begin) = AsyncStream.makeStream(of: Void.self)
        race.rest = {
            begin.finish()
            try? await EventLoop.shared.sleep(until: .never)
            return nil
        }
        let running = Task { [race] in await race.run() }
        for await _ in asked {}
        running.cancel()
        let outcome = await running.value
        #expect(outcome.decisiveFailure.map { "\($0.cause)" } == "\(TransportError.cancelled)")
    }

    @Test(
        "Addresses may come again and again, and each of them is tried once",
        arguments: [nil, 250_000_000]
    )
    func again(stagger: UInt64?) async {
        let refused = AttemptFailure(phase: .connect, cause: .failed(.connect, .noAddresses))
        let all: [Endpoint] = ["[2001:db8::1]:1", "192.0.2.1:1", "192.0.2.2:1"]
        var race = HappyEyeballs(
            candidates: .init(endpoints: [all[0]]),
            stagger: stagger,
            passesOverWrongServers: false,
            end: .never,
            loop: .shared,
            connect: { _ throws(AttemptFailure) in throw refused }
        )
        let asked = Locked(1)
        race.rest = {
            let count = asked.withLock { count -> Int in
                count += 1
                return count
            }
            return count > all.count ? nil : .init(endpoints: Array(all[..<count]))
        }
        let outcome = await race.run()
        #expect(outcome.attempts.map(\.endpoint) == all && outcome.decisive == nil)
        #expect(asked.withLock { $0 } == all.count + 1)
    }
}
