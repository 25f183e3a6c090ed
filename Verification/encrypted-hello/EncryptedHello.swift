internal import DirectCore
internal import DirectIO
internal import DirectTLS
internal import DirectTransport
internal import TLSFixtures

/// Encrypted Client Hello with the library that it was built with: accepted, refused, and tried again with
/// fresh configurations.
///
/// It needs few modules, so that it is built soon, where all the tests would take a quarter of an hour.
@main
struct EncryptedHello {
    private static let (name, publicName) = ("secret.test", "cover.test")

    static func main() async throws {
        guard EncryptedClientHello.isSupported, FixtureECHKey.isSupported else {
            fatalError("built without Encrypted Client Hello")
        }
        let (key, stale) = (
            try FixtureECHKey(publicName: publicName), try FixtureECHKey(publicName: publicName)
        )
        let list = try ECHConfigList(key.configList)
        var attempt = try await Attempt(server: key, client: list)
        attempt.expect(
            .accepted(innerName: name, publicName: list.publicName, afterRejection: false),
            connections: 1
        )
        attempt = try await Attempt(server: key, client: ECHConfigList(stale.configList))
        attempt.expect(
            .accepted(innerName: name, publicName: list.publicName, afterRejection: true),
            connections: 2
        )
        attempt = try await Attempt(server: nil, client: list)
        attempt.expect(nil, connections: 1)
        print("encrypted-hello: accepted, tried again and refused as it has to be")
    }

    /// One dial, and what the server has seen.
    private struct Attempt {
        let outcome: EncryptedClientHello.Outcome?
        let failure: DialFailure?
        let records: [ConnectionRecord]

        /// - Parameter key: The key of the server; `nil` for one that does not know Encrypted Client Hello.
        init(server key: FixtureECHKey?, client list: ECHConfigList) async throws {
            let authority = TestAuthority("Encrypted Hello")
            let certificate = try authority.issue(CertificateProfile([.dns(name), .dns(publicName)]))
            let server = try FixtureServer.start(
                .tls(certificate) { $0.encryptedClientHello = key.map { FixtureECH($0) } }
            ) { _ in .text("") }
            var settings = DialConfiguration()
            settings.tls.roots = .only([.der(authority.rootDER)])
            settings.encryptedClientHello = .config(list)
            let url = try HTTPURL("https://\(name):\(server.port)/")
            let limit = CallLimit(Timeouts(total: .seconds(60)).nanoseconds, until: .never)
            do throws(DialFailure) {
                let connection = try await Dialler(settings).dial(
                    ConnectionTarget(
                        url,
                        route: .chosen(
                            [Endpoint(stringLiteral: server.authority)],
                            port: server.port,
                            source: .request
                        )
                    ),
                    within: limit
                )
                (outcome, failure) = (connection.facts.tls?.encryptedClientHello, nil)
                connection.close()
            } catch {
                (outcome, failure) = (nil, error)
            }
            server.stop()
            records = server.records
        }

        /// Ends the program unless this came of it, on so many connections, none of which shows the name.
        ///
        /// - Parameter wanted: `nil` if the server has to refuse.
        func expect(_ wanted: EncryptedClientHello.Outcome?, connections: Int) {
            let shown = records.filter { record in
                String(decoding: record.socketBytes, as: UTF8.self).contains("secret")
            }
            var isRefused = false
            if case .failed(.tls, .tls(.encryptedClientHelloRejected(_, .disabled)))? = failure?.cause {
                isRefused = true
            }
            guard outcome == wanted, isRefused == (wanted == nil), records.count == connections,
                shown.isEmpty,
                records.allSatisfy({ ($0.tls?.outerServerName ?? $0.serverName) == publicName })
            else {
                fatalError("\(outcome as Any) \(failure?.cause as Any) on \(records.count) connections")
            }
        }
    }
}
