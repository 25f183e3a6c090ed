import CDirectOpenSSL
import Testing

@testable import DirectTLS

@Suite("Alerts and kinds of certificate faults")
struct TLSAlertTests {
    @Test("Each number is one alert, and each alert has its number")
    func numbers() {
        for number in UInt8.min...UInt8.max {
            let alert = TLSAlert(number: number)
            #expect(alert.number == number)
            #expect((alert == .other(number)) == (alert.name == "unassigned"))
        }
        #expect("\(TLSAlert(number: 40))" == "40 (handshake_failure)")
        #expect("\(TLSAlert(number: 200))" == "200 (unassigned)")
    }

    @Test("The alerts have the numbers that OpenSSL gives them")
    func numbersOfOpenSSL() {
        #expect(TLSAlert.unknownCA.number == UInt8(SSL_AD_UNKNOWN_CA))
        #expect(TLSAlert.protocolVersion.number == UInt8(SSL_AD_PROTOCOL_VERSION))
        #expect(TLSAlert.unrecognizedName.number == UInt8(SSL_AD_UNRECOGNIZED_NAME))
        #expect(TLSAlert.certificateRequired.number == UInt8(SSL_AD_CERTIFICATE_REQUIRED))
        #expect(TLSAlert.noApplicationProtocol.number == UInt8(SSL_AD_NO_APPLICATION_PROTOCOL))
    }

    @Test("A number of OpenSSL's without a kind of its own stays readable")
    func otherKinds() {
        #expect(CertificateFault.Kind(code: 77) == .other(code: 77))
        #expect(CertificateFault.Kind(code: -1) == .other(code: -1))
        #expect(CertificateFault.Kind(code: Int(X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT)) == .unknownIssuer)
    }
}
