import DirectCore
import DirectHTTP1
import DirectIO
import DirectTestCommands
import DirectTestTime
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Options that an interceptor removes from a copy", .idleLimit)
struct RemovedOptionTests {
    @Test(
        "An interceptor that removes the authenticator from a copy sends no credentials",
        arguments: [1, 2]
    )
    func authenticator(count: Int) async throws {
        let server = try FixtureServer.start { try .echo($0) }
        let interceptors = [copying { $0.authenticator = nil }, anew { _ in }]
        let client = HTTPClient.untimed { $0.interceptors = Array(interceptors.prefix(count)) }
        var request = Request(.get, server.http())
        request.authenticator = .basic(user: "u", password: "p")
        _ = try await client.fetch(request)
        #expect(server.requests.map { $0.headers["Authorization"] } == [nil])
    }

    @Test("An interceptor that builds a request anew leaves the authenticator", arguments: [1, 2])
    func keptAuthenticator(count: Int) async throws {
        let server = try FixtureServer.start { try .echo($0) }
        let interceptors = [anew { _ in }, copying { $0.headers["X-A"] = "b" }]
        let client = HTTPClient.untimed { $0.interceptors = Array(interceptors.prefix(count)) }
        var request = Request(.get, server.http())
        request.authenticator = .basic(user: "u", password: "p")
        _ = try await client.fetch(request)
        #expect(server.requests.map { $0.headers["Authorization"] != nil } == [true])
    }

    /// Returns whether each interceptor from the second one on sees addresses.
    private func seeAddresses(_ first: @escaping Interceptor, isOnNetwork: Bool = false) async throws
        -> [Bool]
    {
        let script = Script((200, [:]))
        let seen = Heard<Bool>()
        let see = copying { seen.add($0.addresses != nil) }
        let client = script.client {
            $0.interceptors = isOnNetwork ? [] : [first, see]
            $0.networkInterceptors = isOnNetwork ? [first, see] : [see]
        }
        var request = Request(.get, "http://a.test/")
        request.addresses = ["192.0.2.1"]
        _ = try await client.fetch(request)
        return seen.all
    }

    @Test("Addresses that an interceptor removes from a copy do not come back")
    func addresses() async throws {
        #expect(try await seeAddresses(copying { $0.addresses = nil }) == [false, false])
        #expect(try await seeAddresses(copying { $0.addresses = nil }, isOnNetwork: true) == [false])
    }

    @Test("The next interceptor sees the addresses of a request that is built anew")
    func addressesAnew() async throws {
        #expect(try await seeAddresses(anew { _ in }) == [true, true])
        #expect(try await seeAddresses(anew { _ in }, isOnNetwork: true) == [true])
    }

    @Test(
        "Addresses that a decision about a redirect removes from a copy do not come back",
        arguments: [true, false]
    )
    func redirect(isCopy: Bool) async throws {
        let script = Script((302, ["Location": "/b"]), (200, [:]))
        let seen = Heard<Bool>()
        let client = script.client {
            $0.networkInterceptors = [copying { seen.add($0.addresses != nil) }]
            $0.redirects.decide = { redirect in
                var next = isCopy ? redirect.next : Request(.get, redirect.url)
                next.addresses = nil
                return next
            }
        }
        var request = Request(.get, "http://a.test/")
        request.addresses = ["192.0.2.1"]
        _ = try await client.fetch(request)
        #expect(seen.all == [true, !isCopy])
    }
}
