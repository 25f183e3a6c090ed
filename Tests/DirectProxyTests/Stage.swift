import DirectCore
import DirectProxy
import DirectTestPeers
import Testing

/// A proxy before a target of plain C calls, on a name that no DNS knows.
struct Stage {
    let target: Listener
    let proxy: LocalProxy
    private let ended = Locked<[TunnelReport]>([])
    private let news: AsyncStream<Void>

    /// The name and the port that programs ask for.
    static let name = "www.nowhere.test:443"

    /// - Parameter change: changes the settings; the map names the target's address already.
    init(_ change: (inout LocalProxySettings, Listener) throws -> Void = { _, _ in }) throws {
        target = try Listener.atOwnAddress()
        var configuration = LocalProxySettings()
        configuration.access = .anyLocalProgram
        configuration.addresses = try StaticMap(curl: ["*.nowhere.test:443:\(target.address):\(target.port)"])
        let (news, told) = AsyncStream.makeStream(of: Void.self)
        let ended = ended
        self.news = news
        configuration.onEvent = { event in
            guard case .ended(let report) = event else { return }
            ended.withLock { $0.append(report) }
            told.yield()
        }
        try change(&configuration, target)
        proxy = LocalProxy(configuration)
        try proxy.start()
        // At the target's port the proxy would take any address of loopback for itself.
        let target = target
        for _ in 0..<4 where proxy.endpoints.contains(where: { $0.port == target.port }) { try proxy.start() }
    }

    /// A program that has connected to the proxy.
    func program() throws -> Peer {
        try Peer.connected(to: try #require(proxy.endpoints.first))
    }

    /// A program that has a tunnel, and the other end of the tunnel.
    func tunnel(to name: String = Stage.name) throws -> (program: Peer, far: Peer) {
        let program = try program()
        try program.send("CONNECT \(name) HTTP/1.1\r\n\r\n")
        let far = try target.accept()
        #expect(try program.text(39) == "HTTP/1.1 200 Connection established\r\n\r\n")
        return (program, far)
    }

    /// What the proxy answers to these bytes, until it closes.
    func answer(_ bytes: String) throws -> String {
        let program = try program()
        try program.send(bytes)
        return try program.rest()
    }

    /// The reports of so far.
    var reported: [TunnelReport] { ended.withLock { $0 } }

    /// The reports, as many as are expected, once they are there.
    func reports(_ count: Int) async -> [TunnelReport] {
        var next = news.makeAsyncIterator()
        while true {
            let reports = reported
            if reports.count >= count { return reports }
            await next.next()
        }
    }
}

extension Peer {
    /// So many bytes as a text.
    func text(_ count: Int) throws -> String {
        String(decoding: try receive(exactly: count), as: UTF8.self)
    }

    /// All that comes until the other side ends.
    func rest() throws -> String {
        var all: [UInt8] = []
        while true {
            let more = try receive()
            if more.isEmpty { return String(decoding: all, as: UTF8.self) }
            all += more
        }
    }
}
