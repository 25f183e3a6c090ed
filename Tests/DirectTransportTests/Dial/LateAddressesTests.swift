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
            return .init(endpoints: [])
        }
        let running = Task { [race] in await race.run() }
        for await _ in asked {}
        running.cancel()
        let outcome = await running.value
        #expect(outcome.decisiveFailure.map { "\($0.cause)" } == "\(TransportError.cancelled)")
    }
}
