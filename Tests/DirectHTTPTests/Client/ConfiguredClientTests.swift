import DirectCore
import DirectHTTP
import Testing

@Suite("Clients made by a closure")
struct ConfiguredClientTests {
    private struct Refused: Error, Equatable {}

    /// With an initialiser that rethrows, the compiler of Swift 6.3.1 crashes here (docs/Deployment.md): so
    /// this function has no `??` and no `&&` either.
    private func scheme(of text: String) throws -> String {
        let client = HTTPClient { $0.headers = ["X-A": "1"] }
        do {
            _ = try HTTPURL(text)
        } catch HTTPURLError.unsupportedScheme(let scheme) {
            return "\(scheme) \(client.configuration.headers)"
        }
        return "none"
    }

    @Test("A function may make a client and catch one case of a typed error, and compiles")
    func besidePartialCatch() throws {
        #expect(try scheme(of: "ftp://a.test/") == "ftp [X-A]")
        #expect(try scheme(of: "http://a.test/") == "none")
    }

    @Test("An error of the closure is thrown, and a closure that may throw is one as well")
    func throwing() throws {
        #expect(throws: Refused()) { try HTTPClient { _ in throw Refused() } }
        let base = "http://a.test/"
        let client = try HTTPClient {
            $0.headers["X-A"] = "1"
            $0.baseURL = try HTTPURL(base)
        }
        #expect(client.configuration.baseURL?.text == base)
        let stored: (inout HTTPClient.Configuration) throws -> Void = { $0.headers["X-B"] = "2" }
        #expect(try HTTPClient(stored).configuration.headers["X-B"] == "2")
    }
}
