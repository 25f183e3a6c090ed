import DirectTestCommands
import Foundation
import TLSFixtures
import Testing

@Suite("Sites behind one port", .idleLimit)
struct FixtureSitesTests {
    @Test("However many names are asked for that nobody serves, a site is made once")
    func unknownNames() async throws {
        let (asked, answer) = (Asked(), [UInt8]("served".utf8))
        let server = try FixtureServer.start(on: "127.0.0.1", port: 0) { ask in
            asked.add(ask)
            return FixtureSite(.plain, .bytes(ask == .tls("a.test") ? [.rawBytes(answer)] : [.alert(112)]))
        }
        for number in 0..<1010 {
            let outcome = await talk(to: server, sending: hello(to: "\(number).test"))
            #expect(outcome.bytes == [21, 3, 3, 0, 2, 2, 112])
        }
        for _ in 0..<2 { #expect(await talk(to: server, sending: hello(to: "a.test")).bytes == answer) }
        #expect(asked.count(.tls("a.test")) == 1)
        // The alert of a name is not kept.
        _ = await talk(to: server, sending: hello(to: "0.test"))
        #expect(asked.count(.tls("0.test")) == 2)
    }

    /// A ClientHello of TLS 1.2 with one cipher suite and a server name of less than a hundred letters.
    private func hello(to name: String) -> String {
        func vector(_ text: String, _ width: Int) -> String {
            String(repeating: "\0", count: width - 1) + String(UnicodeScalar(UInt8(text.utf8.count))) + text
        }
        let names = vector("\0" + vector(name, 2), 2)
        let zeros = String(repeating: "\0", count: 32)
        let message = "\u{3}\u{3}\(zeros)\0" + vector("\0\u{2F}", 2) + vector("\0", 1)
        let hello = vector(message + vector("\0\0" + vector(names, 2), 2), 3)
        return "\u{16}\u{3}\u{1}" + vector("\u{1}" + hello, 2)
    }
}

/// How often each site was asked for.
private final class Asked: @unchecked Sendable {
    private let lock = NSLock()
    private var counts: [FixtureAsk: Int] = [:]

    func add(_ ask: FixtureAsk) { lock.withLock { counts[ask, default: 0] += 1 } }

    func count(_ ask: FixtureAsk) -> Int { lock.withLock { counts[ask] ?? 0 } }
}
