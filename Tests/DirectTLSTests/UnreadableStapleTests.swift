import CDirectOpenSSL
import Testing

@testable import DirectTLS

@Suite("A staple that is no OCSP response")
struct UnreadableStapleTests {
    @Test(
        "It is reported, or it is the error of the handshake where OpenSSL reads it",
        arguments: [OCSPStapling.reported, .required]
    )
    func unreadable(stapling: OCSPStapling) throws {
        let server = TestServer(.leaf("a.test"), .init(versions: TLS1_2_VERSION...TLS1_2_VERSION))
        fixture_SSL_CTX_set_status_callback(server.raw) { ssl, _ in
            // What OpenSSL reads itself is forged on the wire.
            let staple = isReadByOpenSSL ? tryLater : brokenStaple
            return fixture_SSL_set_ocsp_response(ssl, staple, staple.count) == 1
                ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL
        }
        let pair = try Pair(server, .testing { $0.stapling = stapling }, .name("a.test"))
        // In TLS 1.2 the staple is not encrypted, and is read before the server proves what it has sent.
        pair.server.forgery = (tryLater, brokenStaple)
        let step = pair.shake()
        if isReadByOpenSSL || stapling == .required {
            #expect(step.error == .staple(.invalid("it cannot be read")))
        } else {
            #expect(step == .moved(0))
            #expect(pair.client.facts.stapledStatus == .invalid("it cannot be read"))
        }
    }

    @Test("An alert about a staple that the server sends is an alert")
    func alert() throws {
        let pair = try Pair(
            TestServer(.leaf("a.test")),
            .testing { $0.stapling = .reported },
            .name("a.test")
        )
        // A fatal bad_certificate_status_response.
        pair.server.sendRaw([21, 3, 3, 0, 2, 2, 113])
        #expect(pair.shake().error == .alertReceived(.badCertificateStatusResponse))
    }
}

/// From 3.6 on OpenSSL reads staples itself: as a server it sends none that it cannot read, and as a client
/// it ends the handshake.
private let isReadByOpenSSL = OpenSSL_version_num() >= 0x3060_0000
/// The OCSP response "try later".
private let tryLater: [UInt8] = [0x30, 3, 0x0a, 1, 3]
private let brokenStaple: [UInt8] = [1, 2, 3, 4, 5]
