import DirectHTTPFoundation
import Foundation
import TLSFixtures

/// The server of the examples, inside this process: www.shop.example, a name that exists in no DNS, with a
/// certificate of an authority made for this run.
public struct Stage: Sendable {
    /// A client that connects to the server's address for that name and trusts its authority.
    public let client: HTTPClient
    /// The origin of the server, `https://www.shop.example:PORT`.
    public let origin: String
    private let server: FixtureServer

    /// Starts the server.
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

    /// Returns the URL of a path on the server.
    public func url(_ path: String) throws -> URL {
        guard let url = URL(string: origin + path) else { throw Disappointment(words: "\(path) is no path") }
        return url
    }

    /// The address, Host and SNI of the last request that the server received.
    public var lastArrival: String {
        guard let request = server.requests.last else { return "no request arrived" }
        return
            "at \(server.address), for \(request.headers["host"] ?? "no host") (SNI \(request.serverName ?? "none"))"
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

/// An article of the shop.
public struct Item: Codable, Equatable, Sendable {
    /// The article's name.
    public var name: String
    /// The article's price.
    public var price: Int
}

/// A result of an example that is not the promised one.
public struct Disappointment: Error, CustomStringConvertible {
    /// The description.
    public let words: String
    public var description: String { words }

    /// Creates an error with this description.
    public init(words: String) {
        self.words = words
    }
}

/// Prints a result, and throws unless it is the promised one.
public func show(_ what: String, _ came: String, promised: String) throws {
    print("\(what): \(came)")
    guard came == promised else { throw Disappointment(words: "\(what): \(promised) was promised") }
}
