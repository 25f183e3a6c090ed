import DirectHTTP
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("Connections of a probe")
struct WireTests {
    private func open(_ server: FixtureServer) async throws -> Result<Wire, Refusal> {
        let address = try #require(IPAddress(server.address))
        // The deadline is over before the task runs, as on a machine that is too busy.
        let past = Instant(nanoseconds: 1)
        return await Wire.open(address, port: server.port, on: EventLoop.shared, by: past)
    }

    @Test("An established connection counts even after its deadline")
    func aConnectionThatIsThereCountsHoweverLateWeLook() async throws {
        let server = try FixtureServer.start(behaviour: .bytes(.silent))
        let wire = try await open(server).get()
        #expect(wire.socket.isConnected)
        wire.close()
        server.stop()
    }

    @Test("An address that never answers is a silent one")
    func anAddressThatNeverAnswersIsStillSilent() async throws {
        guard case .failure(.silentTCP) = try await open(try FixtureServer.unresponsive()) else {
            Issue.record("not silent")
            return
        }
    }

    @Test("A refused connection is reported as such even after its deadline")
    func aRefusalIsARefusalHoweverLateWeLook() async throws {
        guard case .failure(.notConnected(let error)) = try await open(try FixtureServer.refusing()) else {
            Issue.record("not refused")
            return
        }
        #expect(error.meansRefused)
    }
}
