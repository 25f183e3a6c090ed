@testable import DirectCore
import DirectIO
import DirectTestCommands
@testable import DirectTransport
import Foundation
import TLSFixtures
import Testing

@testable import DirectHTTP

/// The behaviour of a client with the settings of its proxies.
@Suite("Settings of proxies in use", .idleLimit)
struct ProxySettingsTests {
    @Test("A proxy's own TLS settings apply to the proxy, and not behind it")
    func ownTLS() async throws {
        let origin = try FixtureServer.secure("a.test", on: "127.0.0.2")
        let other = TestAuthority("Proxies' Root")
        let server = try FixtureServer.start(
            .tls(other.certificate(for: "proxy.test")),
            on: "127.0.0.3",
            behaviour: .proxy(FixtureProxy(["a.test:443": origin.authority]))
        )
        var proxy = try Proxy("https://proxy.test:\(server.port)")
        proxy.addresses = [server.endpoint]
        let without = HTTPClient.trusting { [proxy] in $0.proxy = ProxySettings(proxy) }
        #expect(try await httpError { try await without.get("https://a.test/") }.phase == .proxy)
        var tls = TLSSettings()
        tls.roots = .only([.der(other.rootDER)])
        proxy.tls = tls
        let with = HTTPClient.trusting { [proxy] in $0.proxy = ProxySettings(proxy) }
        #expect(try await with.get("https://a.test/").text == "hello")
        let strange = HTTPClient { [proxy] in $0.proxy = ProxySettings(proxy) }
        #expect(try await httpError { try await strange.get("https://a.test/") }.phase == .tls)
    }

    @Test("User and password are sent in UTF-8 to a proxy (RFC 7617, section 2.1)")
    func basicInUTF8() async throws {
        let server = try FixtureServer.start(on: "127.0.0.3") { _ in .text("hello") }
        var proxy = try Proxy("http://proxy.test:\(server.port)")
        proxy.addresses = [server.endpoint]
        proxy.credentials = Proxy.Credentials(user: "Jürgen", password: "pä£€")
        let client = HTTPClient { [proxy] in $0.proxy = ProxySettings(proxy) }
        _ = try await client.get("http://a.test/")
        let wanted = "Basic " + Data("Jürgen:pä£€".utf8).base64EncodedString()
        #expect(server.requests.first?.headers["proxy-authorization"] == wanted)
    }

    @Test("User and password are sent in UTF-8 to a server (RFC 7617, section 2.1)")
    func basicOfRequest() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        var request = Request(.get, server.http())
        // The example of the RFC.
        request.authenticator = .basic(user: "test", password: "123£")
        _ = try await HTTPClient().fetch(request)
        request.authenticator = .basic(user: "Jürgen", password: "x")
        _ = try await HTTPClient().fetch(request)
        let sent = server.requests.map { $0.headers["authorization"] }
        #expect(sent == ["Basic dGVzdDoxMjPCow==", "Basic SsO8cmdlbjp4"])
    }

    /// In a process of its own: the environment belongs to all threads.
    @Test("`fromEnvironment` reads the variables of the process", .ownProcess)
    func fromEnvironment() async throws {
        await #expect(processExitsWith: .success) {
            for name in ["all_proxy", "ALL_PROXY", "HTTPS_PROXY", "NO_PROXY"] { unsetenv(name) }
            setenv("http_proxy", "http://one.test:81", 1)
            setenv("https_proxy", "socks5://two.test", 1)
            setenv("no_proxy", "three.test", 1)
            let wanted = try ProxySettings(
                forHTTP: Proxy("http://one.test:81"),
                forHTTPS: Proxy("socks5://two.test:1080"),
                except: ProxyExceptions("three.test")
            )
            exit(try ProxySettings.fromEnvironment() == wanted ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }
}

extension ProxySettings {
    fileprivate init(forHTTP: Proxy, forHTTPS: Proxy, except exceptions: ProxyExceptions) {
        self.init(forHTTP, except: exceptions)
        self.forHTTPS = forHTTPS
    }
}
