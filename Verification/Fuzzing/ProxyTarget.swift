import DirectCore
import DirectHTTP1
import DirectIO
import Glibc

@testable import DirectProxy
@testable import TLSFixtures

extension FuzzTarget {
    /// A local proxy between a program that sends the first text and a server that answers with the others.
    ///
    /// - Each connection ends, and what the program gets is one answer of HTTP that is read in one way, or
    ///   SOCKS's.
    /// - What is sent on is what the reader and the writer make of the same bytes, however they are cut; what
    ///   they refuse is refused, and the server hears nothing of it.
    /// - Without credentials the server hears nothing at all.
    static let proxy = FuzzTarget(name: "proxy") { choices in
        let isOpen = choices.number(below: 4) > 0
        let closes = choices.flag()
        let cuts = choices.cuts(of: 1024, atMost: 3)
        let texts = choices.texts()
        let answers = texts.dropFirst().prefix(2).map { text in
            ScriptedServer.Answer(pieces: [text], closesAfterwards: closes)
        }
        ProxyStage.shared.play(texts[0], cutAt: cuts, answers: answers, isOpen: isOpen)
    }
}

/// The proxies and their servers, which all runs share.
private final class ProxyStage: Sendable {
    static let shared = ProxyStage()

    /// A proxy that knows one server, under any name.
    private struct Place {
        let server = ScriptedServer()
        let proxy: LocalProxy

        init(_ access: LocalProxy.Access) {
            var settings = LocalProxySettings()
            (settings.access, settings.others) = (access, .refused)
            do {
                settings.addresses = try StaticMap(curl: ["*:*:127.0.0.1:\(server.port)"])
                proxy = LocalProxy(settings)
                try proxy.start()
            } catch {
                fatalError("no proxy: \(error)")
            }
        }
    }

    /// What the bytes of a program are.
    private enum Words {
        /// One whole request without content, which is sent on so.
        case request(ReceivedRequest, ForwardedRequest)
        /// Something that is refused, and the beginning of a head.
        case refused, beginning
        /// A tunnel, or a request with content or more behind it.
        case other(isSOCKS: Bool)
    }

    /// The server of the second may hear of a program when that has gone.
    private let (judged, others, locked) = (
        Place(.anyLocalProgram), Place(.anyLocalProgram), Place(.credentials)
    )

    func play(_ bytes: [UInt8], cutAt cuts: [Int], answers: [ScriptedServer.Answer], isOpen: Bool) {
        let words = Self.words(bytes)
        var place = isOpen ? judged : locked
        if isOpen, case .other = words { place = others }
        place.server.begin(answers)
        let heard = hear(from: place.proxy, bytes.pieces(cutAt: cuts), words)
        let requests = place.server.requests
        guard isOpen else {
            require(requests.isEmpty, "nothing without credentials: \(requests)")
            if case .request = words { require(heard.starts(with: Array("HTTP/1.1 407 ".utf8)), "407") }
            return
        }
        switch words {
        case .request(_, let forwarded):
            // A server that is slow to be served closes a connection before the request has come.
            let isClosed = requests.isEmpty && heard.starts(with: Array("HTTP/1.1 502 ".utf8))
            if !isClosed { requireEqual(requests, [forwarded.head], "the request, made anew") }
        case .refused, .beginning:
            require(requests.isEmpty, "nothing of what is refused: \(requests)")
            let isRefused =
                heard.starts(with: Array("HTTP/1.1 4".utf8)) || heard.starts(with: Array("HTTP/1.1 501".utf8))
            if case .refused = words { require(isRefused, "a refusal: \(heard.text)") }
        case .other(let isSOCKS):
            let start: [UInt8] = isSOCKS ? [5] : Array("HTTP/1.1 ".utf8)
            require(heard.starts(with: start.prefix(heard.count)), "an answer: \(heard.text)")
        }
    }

    /// What the reader and the writer make of the bytes.
    private static func words(_ bytes: [UInt8]) -> Words {
        guard bytes.first != 5 else { return .other(isSOCKS: true) }
        var reader = RequestReader()
        reader.begin()
        var used = 0
        do throws(RequestFault) {
            while true {
                let rest = bytes[used...]
                let step = try reader.next(rest.span)
                used += step.used
                guard case .head(let request) = step.event else { return .beginning }
                guard request.method != .connect else { return .other(isSOCKS: false) }
                guard let forwarded = try? ForwardedRequest(request) else { return .refused }
                guard reader.isAtEnd, used == bytes.count else { return .other(isSOCKS: false) }
                return .request(request, forwarded)
            }
        } catch {
            return .refused
        }
    }

    /// Sends the pieces and returns what comes until the end, or until the answer to a request is whole.
    private func hear(from proxy: LocalProxy, _ pieces: [[UInt8]], _ words: Words) -> [UInt8] {
        guard let endpoint = proxy.endpoints.first, let connection = Self.connect(to: endpoint) else {
            fatalError("no connection to the proxy")
        }
        defer { close(connection) }
        for piece in pieces { _ = piece.withUnsafeBytes { Sockets.send(connection, bytes: $0) } }
        if case .request = words {} else { shutdown(connection, Int32(SHUT_WR)) }
        var heard: [UInt8] = []
        while true {
            if case .request(let request, let forwarded) = words, isWhole(heard, request, forwarded) {
                return heard
            }
            require(Sockets.waitReadable([connection], atMost: .seconds(30))[0], "the connection ends")
            var buffer = [UInt8](repeating: 0, count: 8192)
            let count = buffer.withUnsafeMutableBytes { Sockets.receive(connection, bytes: $0) }
            guard count > 0 else { return heard }
            heard += buffer[..<count]
        }
    }

    /// Whether an answer has come to its end. It must be one that the strict reader reads.
    private func isWhole(_ heard: [UInt8], _ request: ReceivedRequest, _ forwarded: ForwardedRequest) -> Bool
    {
        var reader = ResponseReader()
        reader.begin(request.method, upgrade: forwarded.upgrades)
        var used = 0
        do throws(HTTP1Error) {
            while true {
                let rest = heard[used...]
                let step = try reader.next(rest.span)
                used += step.used
                switch step.event {
                case .needsMore: return false
                case .head where reader.framing == .none || reader.framing == .tunnel: return true
                case .end, .trailers: return true
                case .interim, .head, .content: continue
                }
            }
        } catch {
            fatalError("broken rule: an answer that is read in one way: \(error)\n\(heard.text)")
        }
    }

    private static func connect(to endpoint: Endpoint) -> Int32? {
        guard let connection = try? Sockets.make(family: AF_INET) else { return nil }
        let result = try? endpoint.withSocketAddress(defaultPort: 0) { Glibc.connect(connection, $0, $1) }
        return result == 0 ? connection : nil
    }
}
