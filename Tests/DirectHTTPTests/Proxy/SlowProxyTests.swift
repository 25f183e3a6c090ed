@testable import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestPeers
import DirectTestTime
@testable import DirectTransport
import Testing

@testable import DirectHTTP

@Suite("Slow proxies", .idleLimit)
struct SlowProxyTests {
    private let time = HeldTime()

    @Test(
        "One limit applies to the whole exchange with a proxy, however small its pieces are",
        arguments: ["http", "socks5h"]
    )
    func drip(scheme: String) async throws {
        let listener = try Listener("127.0.0.3")
        let proxy = try Proxy("\(scheme)://127.0.0.3:\(listener.port)")
        let client = time.client {
            $0.proxy = ProxySettings(proxy)
            $0.timeouts = Timeouts(connect: .seconds(7))
        }
        // On the loop, so that `settle` returns when the client has taken what has arrived.
        let call = Task(executorPreference: time.loop) { try await client.get("https://a.test/") }
        try await time.waitBegins(for: .seconds(7))
        let peer = try listener.accept()
        // Six bytes, and a second before each.
        let answers = scheme == "http" ? [Array("HTTP/1".utf8)] : [[5, 0], [5, 0, 0, 1]]
        for answer in answers {
            // The question that it answers.
            _ = try peer.receive()
            for byte in answer {
                time.advance(by: .seconds(1))
                try peer.send([byte])
                for _ in 0..<2 { await time.settle() }
            }
        }
        time.advance(by: .seconds(1))
        await time.settle()
        // A client that still waits hears that the connection has ended.
        peer.finishSending()
        let error = try await httpError { try await call.value }
        #expect(error.phase == .proxy && error.isTimeout)
    }
}
