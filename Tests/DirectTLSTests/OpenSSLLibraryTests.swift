@testable import DirectTLS
import Testing

@Suite("OpenSSL's library")
struct OpenSSLLibraryTests {
    @Test("The library of this program belongs to its headers")
    func same() {
        #expect(throws: Never.self) { try OpenSSLLibrary.start() }
    }

    @Test(
        "A library of another major version, or of another project, is named",
        arguments: [(4, "OpenSSL 4.0.3 9 Jun 2026"), (3, "BoringSSL"), (0, "LibreSSL 4.1.0")]
            as [(UInt32, String)]
    )
    func other(library: UInt32, name: String) throws {
        let fault = try #require(OpenSSLLibrary.mixture(headers: 3, library: library, says: name))
        #expect(
            fault == "the headers are those of OpenSSL 3, but the library is \(name): remove one of the two"
        )
    }
}
