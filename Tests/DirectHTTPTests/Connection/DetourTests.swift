@testable import DirectCore
import DirectIO
@testable import DirectTransport
import Testing

@testable import DirectHTTP

@Suite("Detours")
struct DetourTests {
    private let a: Endpoint = "10.0.0.1:80"
    private let b: Endpoint = "10.0.0.2:80"
    private let c: Endpoint = "10.0.0.3:80"

    private func detour(_ failed: Endpoint..., misdirected: [Endpoint] = []) throws -> Detour {
        var endpoints = FailedEndpoints()
        for endpoint in failed { endpoints.recordFailure(at: endpoint) }
        for endpoint in misdirected { endpoints.recordMisdirection(at: endpoint) }
        return try #require(endpoints.detour())
    }

    private func choice(_ endpoints: Endpoint...) -> EndpointSelection {
        EndpointSelection(endpoints, port: 80, .system)
    }

    private func avoided(_ kept: KeptConnections) -> [Endpoint]? {
        if case .except(let endpoints) = kept { endpoints } else { nil }
    }

    @Test("There is no detour without a failure")
    func none() {
        var endpoints = FailedEndpoints()
        endpoints.recordFailure(at: nil)
        #expect(endpoints.detour() == nil && endpoints.detour(onNewConnection: true) != nil)
    }

    @Test("A detour uses the other addresses in order, and then the failed ones, the earliest first")
    func order() throws {
        let order = try detour(b, a).order([a, b, c])
        #expect(order.first == [c] && order.late == [b, a])
    }

    @Test("A detour returns to the address that failed first, once all have failed")
    func everywhere() throws {
        let all = try detour(a, b, c).order([c, b, a])
        #expect(all.first == [a] && all.late == [b, c])
        let again = try detour(a, b, a).order([a, b])
        #expect(again.first == [b] && again.late == [a])
        let only = try detour(a).order([a])
        #expect(only.first == [a] && only.late.isEmpty)
    }

    @Test("A detour uses a server that does not serve the name only if there is no other")
    func misdirected() throws {
        let order = try detour(b, misdirected: [a]).order([a, b])
        #expect(order.first == [b] && order.late.isEmpty)
        #expect(try detour(misdirected: [a]).order([a]).first == [a])
    }

    @Test("A detour uses no kept connection of an earlier try while there may be another address")
    func kept() throws {
        #expect(avoided(try detour(a).kept) == [a])
        #expect(avoided(try detour(a).among(choice(a, b)).kept) == [a])
        #expect(avoided(try detour(a).among(choice(a)).kept) == [])
        #expect(avoided(try detour(a, b).among(choice(a, b)).kept) == [b])
        #expect(avoided(try detour(misdirected: [a]).among(choice(a, b)).kept) == [a])
        #expect(avoided(try detour(misdirected: [a]).among(choice(a)).kept) == [])
        // The addresses of a fallback are avoided as well: the answer itself has others.
        #expect(avoided(try detour(c).among(choice(a)).kept) == [c])
    }
}
