import DirectHTTP
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("Connections of a probe")
struct ProbeConnectionTests {
    private func probe(of server: FixtureServer) throws -> Probe {
        let target = ProbeTarget(host: try HTTPHost("a.test"))
        let address = try #require(IPAddress(server.address))
        return Probe(target: target, address: address, port: server.port, source: .argument)
    }

    private func connect(to server: FixtureServer) async throws -> Result<Socket, TransportError> {
        let probe = try probe(of: server)
        let tools = ProbeTools(ProbeSettings(), loop: .shared)
        // The deadline is over before the task runs, as on a machine that is too busy.
        let past = Instant(nanoseconds: 1)
        let limit = CallLimit(tools.timeouts, until: past)
        do throws(TransportError) {
            return .success(try await probe.connect(within: limit, through: nil, on: .shared))
        } catch {
            return .failure(error)
        }
    }

    @Test("An established connection counts even after its deadline")
    func establishedConnectionCountsEvenAfterItsDeadline() async throws {
        let server = try FixtureServer.start(behaviour: .bytes(.silent))
        let socket = try await connect(to: server).get()
        #expect(socket.localEndpoint != nil)
        socket.close()
        server.stop()
    }

    @Test("A handshake that is cancelled before the roots are loaded is not called a broken one")
    func cancelledBeforeTheContext() async throws {
        let server = try FixtureServer.start(behaviour: .bytes(.silent))
        let (probe, loop) = (try probe(of: server), EventLoop.shared)
        let tools = ProbeTools(ProbeSettings(), loop: loop)
        let limit = CallLimit(tools.timeouts, until: .never)
        let handshake = Task(executorPreference: loop) {
            await Handshake.perform(
                with: probe,
                offering: SurveyOffer(serverName: nil, offersHTTP: false),
                tools: tools,
                signs: SignsOfLife(),
                limit: limit,
                on: loop
            ).handshake
        }
        _ = try await server.waitUntil { $0.count == 1 }
        handshake.cancel()
        #expect(await handshake.value.failure == .cancelled)
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
