@testable import DirectTransport
import DirectCore
import DirectIO
import DirectTLS
import Testing

@Suite("New attempts after a refused client hello")
struct ECHRetryTests {
    private static let list =
        "AEX+DQBBfAAgACAEMNl9zYtSSzrwJmR4fU9CGs12P4MKNjrzeAwR1M1YLQAEAAEA"
        + "AQASY292ZXIuZXhhbXBsZS50ZXN0AAA="

    private static func connector(offering config: ECHConfigList) async throws -> Connector {
        var configuration = DialConfiguration()
        configuration.encryptedClientHello = .whenAvailable
        let dialler = Dialler(configuration)
        let leg = Leg(
            to: Destination(try HTTPURL("https://secret.test/")),
            route: .system,
            profile: dialler.profiles.base
        )
        var connector = try await Connector(leg, on: Journey(of: dialler, within: .none))
        connector.ech = ECHOffer(config, innerName: "secret.test")
        return connector
    }

    @Test("Only the server's own refusal counts: a proxy's has neither its keys nor its leave for clear text")
    func refusals() async throws {
        let config = try ECHConfigList(base64: Self.list)
        let connector = try await Self.connector(offering: config)
        for rejection in [EncryptedClientHello.Rejection.staleConfig(fresh: config), .disabled] {
            let error = TLSError.encryptedClientHelloRejected(config.publicName, rejection)
            #expect(connector.afterRejection(.failed(.tls, .tls(error))) != nil)
            #expect(connector.afterRejection(.failed(.proxy, .tls(error))) == nil)
        }
    }
}
