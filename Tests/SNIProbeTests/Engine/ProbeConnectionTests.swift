import DirectHTTP
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("Connections of a probe")
struct ProbeConnectionTests {
    private func connect(to server: FixtureServer) async throws -> Result<Socket, TransportError> {
        let target = ProbeTarget(host: try HTTPHost("a.test"))
        let address = try #require(IPAddress(server.address))
        let probe = Probe(target: target, address: address, port: server.port, source: .argument)
        let tools = ProbeTools(ProbeSettings(), loop: .shared)
        // The deadline is over before the task runs, as on a machine that is too busy.
        let past = Instant(nanoseconds: 1)
        let limits = DialLimits(CallLimit(tools.timeouts, until: past), loop: .shared)
        do throws(TransportError) {
            return .success(try await probe.connect(limits))
        } catch {
            return .failure(error)
        }
    }

    @Test("An established connection counts even after its deadline")
    func establishedConnectionCountsEvenAfterItsDeadline() async throws {
        let server = try FixtureServer.start(behaviour: .bytes(.silent))
        let socket = try await connect(to: server).get()
        #expect(socket.isConnected)
        socket.close()
        server.stop()
    }

    @Test("An address that never answers is a silent one")
    func addressThatNeverAnswersIsSilent() async throws {
        guard case .failure(let error) = try await connect(to: try FixtureServer.unresponsive()),
            case .silentTCP = HandshakeFailure(error, firstBytes: [])
        else {
            Issue.record("not silent")
            return
        }
    }

    @Test("A refused connection is reported as such even after its deadline")
    func refusedConnectionIsReportedEvenAfterItsDeadline() async throws {
        guard case .failure(let error) = try await connect(to: try FixtureServer.refusing()),
            case .notConnected(let cause) = HandshakeFailure(error, firstBytes: [])
        else {
            Issue.record("not refused")
            return
        }
        #expect(cause.meansRefused)
    }
}
