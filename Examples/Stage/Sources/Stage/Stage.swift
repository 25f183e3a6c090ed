import DirectHTTPFoundation
import Foundation
import TLSFixtures

/// What the examples talk to: www.shop.example, which no DNS knows, on a server of this process, with a certificate of
/// an authority made for this run.
public struct Stage: Sendable {
    /// Goes to the server's address for that name; everything else about it is as usual.
    public let client: HTTPClient
    /// https://www.shop.example:PORT, without a path.
    public let origin: String
    private let server: FixtureServer

    public init() throws {
        let authority = TestAuthority()
        let certificate = authority.certificate(for: "www.shop.example")
        let server = try FixtureServer.start(.tls(certificates: [certificate])) { try Self.answer($0) }
        let addresses = try StaticMap(curl: ["www.shop.example:\(server.port):\(server.address)"])
        client = HTTPClient {
            $0.tls.roots = .only([.der(authority.rootDER)])
            $0.addresses = addresses
        }
        origin = "https://www.shop.example:\(server.port)"
        self.server = server
    }

    public func url(_ path: String) throws -> URL {
        guard let url = URL(string: origin + path) else { throw Disappointment(words: "\(path) is no path") }
        return url
    }

    /// The address and the name that the last request came to.
    public var lastArrival: String {
        guard let request = server.requests.last else { return "nothing arrived" }
        return
            "at \(server.address), for \(request.headers["host"] ?? "nobody") (SNI \(request.serverName ?? "none"))"
    }

    private static func answer(_ request: FixtureRequest) throws -> FixtureReply {
        switch request.path {
        case "/catalogue": .text(#"[{"name":"tea","price":3},{"name":"cake","price":4}]"#)
        case "/orders": .text("\(request.method) of \(try request.discardBody()) bytes", status: 201)
        case "/moved": .redirect(to: "catalogue")
        case "/news": .chunked(["one\n", "two\n", "three\n"].map { Array($0.utf8) })
        case "/who": .text(request.headers["authorization"] ?? "nobody")
        default: .text("not here", status: 404)
        }
    }
}

/// One thing of the shop's.
public struct Item: Codable, Equatable, Sendable {
    public var name: String
    public var price: Int
}

/// Something was not as promised.
public struct Disappointment: Error, CustomStringConvertible {
    public let words: String
    public var description: String { words }

    public init(words: String) {
        self.words = words
    }
}

/// Says what was done, and fails the example unless it came out as promised.
public func show(_ what: String, _ came: String, promised: String) throws {
    print("\(what): \(came)")
    guard came == promised else { throw Disappointment(words: "\(what): \(promised) was promised") }
}
