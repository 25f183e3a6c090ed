import DirectCore
import DirectTestCommands
import DirectTestResolvers
import Foundation
import TLSFixtures
import Testing

@testable import DirectHTTP

/// Calls whose callers hold every thread that libdispatch and Swift have: on Linux they are the same ones.
@Suite("Calls while all of libdispatch's threads wait for calls", .idleLimit, .serialized)
struct CallersThreadsTests {
    private let server: FixtureServer
    private let body = [UInt8](repeating: 1, count: 100_000)

    init() throws {
        server = try FixtureServer.start { request in
            .text("\(try request.body.count)")
        }
    }

    /// Makes as many calls from libdispatch's queues, and expects each to end with this text.
    private func expect(
        _ text: String,
        from count: Int = 300,
        _ location: SourceLocation = #_sourceLocation,
        _ call: @escaping @Sendable (Int) throws -> String?
    ) async {
        let results = Locked<[String: Int]>([:])
        await withCheckedContinuation { continuation in
            let group = DispatchGroup()
            for number in 0..<count {
                DispatchQueue.global().async(group: group) {
                    let result: String
                    do { result = try call(number) ?? "" } catch { result = "\(error)" }
                    results.withLock { $0[result, default: 0] += 1 }
                }
            }
            group.notify(queue: .global()) { continuation.resume() }
        }
        #expect(results.withLock { $0 } == [text: count], sourceLocation: location)
    }

    private func client(_ configure: (inout HTTPClient.Configuration) -> Void = { _ in }) -> HTTPClient {
        .untimed {
            $0.maximumConnectionsPerOrigin = 20
            configure(&$0)
        }
    }

    @Test("Hundreds of uploads end")
    func uploads() async {
        let (client, url, body) = (client(), server.http("/a"), body)
        await expect("100000") { _ in try client.blocking.post(url, .bytes(body)).text }
    }

    @Test("Hundreds of downloads end")
    func downloads() async throws {
        let (client, url, folder) = (client(), server.http("/a"), try TemporaryFolder())
        await expect("1") { number in
            String(try client.blocking.download(url, to: folder.path + "/\(number)").size)
        }
    }

    @Test("Hundreds of calls with hedging end")
    func hedging() async {
        let client = client { $0.hedging = HedgingPolicy(after: .seconds(600)) }
        let url = server.http("/a")
        await expect("0") { _ in try client.blocking.get(url).text }
    }

    @Test("Hundreds of calls end whose names a resolver of the program's own knows")
    func resolver() async throws {
        let (client, port) = (client { $0.resolver = ScriptedResolver("own", ["127.0.0.1"]) }, server.port)
        await expect("0") { try client.blocking.get("http://h\($0 % 20).test:\(port)/").text }
    }

    @Test(
        "Hundreds of calls through a network interceptor end, with a limit of the whole call",
        arguments: [true, false]
    )
    func networkInterceptor(hasTotal: Bool) async {
        let client = client {
            $0.networkInterceptors = [{ request, forward in try await forward(request) }]
            if hasTotal { $0.timeouts.total = .seconds(3600) }
        }
        let (url, body) = (server.http("/a"), body)
        await expect("100000") { _ in try client.blocking.post(url, .bytes(body)).text }
    }

    @Test("A token from a source of the program's own arrives for hundreds of calls")
    func bearer() async throws {
        let url = server.http("/a")
        let origin = try HTTPURL(url).origin
        let client = client { $0.authenticators[origin] = .bearer(refreshing: { "token" }) }
        await expect("0") { _ in try client.blocking.get(url).text }
    }
}
