import DirectHTTP
import Foundation
import Synchronization
import TLSFixtures

/// The servers of the recipes, inside this process, for names that they know and addresses on loopback.
struct Kitchen: Sendable {
    static let names = ["www.example.com", "api.example.com", "img.example.com"]

    let authority = TestAuthority()
    /// The client certificate that the recipes show.
    let client: FixtureCertificate
    let origin: FixtureServer
    /// Another server of the same names.
    let edge: FixtureServer
    /// A server whose certificate is for another name.
    let stranger: FixtureServer
    let plain: FixtureServer
    let dead: FixtureServer
    let proxy: FixtureServer
    /// HTTPDNS and DNS over HTTPS: they name the address 127.0.0.1.
    let httpdns: FixtureServer
    let dns: FixtureServer

    init() throws {
        let certificates = [
            authority.certificate(for: "www.example.com", "api.example.com", "img.example.com")
        ]
        let counts = Counts()
        func server(_ name: String) throws -> FixtureServer {
            try .start(.tls(certificates: certificates) { $0.clientCertificates = .requested }) { request in
                try Self.answer(request, from: name, counts)
            }
        }
        client = try authority.issue(.client("reader"))
        origin = try server("origin")
        edge = try server("edge")
        stranger = try .start(.tls(authority.certificate(for: "other.example.com"))) { _ in
            .text("never seen")
        }
        plain = try .start { try Self.answer($0, from: "plain", counts) }
        dead = try .refusing()
        let routes = ["www.example.com:443": origin.authority]
        proxy = try .start(behaviour: .proxy(FixtureProxy(routes, credentials: "joe:secret")))
        httpdns = try .start { _ in .text(#"{"host":"www.example.com","ips":["127.0.0.1"],"ttl":60}"#) }
        dns = try .start(.tls(authority.certificate(for: "dns.example.com"))) { _ in
            let answer = #"{"name":"www.example.com.","type":1,"TTL":60,"data":"127.0.0.1"}"#
            return .text(#"{"Status":0,"Answer":[\#(answer)]}"#, ["Content-Type": "application/dns-json"])
        }
    }

    private static func answer(_ request: FixtureRequest, from name: String, _ counts: Counts) throws
        -> FixtureReply
    {
        switch request.path {
        case "/": .text("hello")
        case "/where": .text("\(request.host ?? "") at \(name)")
        case "/items/7": json(#"{"id":7,"name":"tea"}"#)
        case "/items" where request.method == "POST": json(try request.text, status: 201)
        case "/items": page(of: request)
        case "/search", "/items/a%2Fb": .text(request.target)
        case "/form": .text(try request.text)
        case "/stall": .script([.awaitHead, .stall])
        case "/flaky": counts.next("flaky") == 1 ? .status(503, ["Retry-After": "0"]) : .text("ready")
        case "/old": .redirect(to: "/")
        case "/away": .redirect(to: "https://img.example.com/where")
        case "/login": .text("welcome", ["Set-Cookie": "id=42; Secure; Path=/"])
        case "/profile": .text("visitor \(request.cookie("id") ?? "unknown")")
        case "/news": .text("edition \(counts.next("news"))", ["Cache-Control": "max-age=60"])
        case "/private": authorized(request)
        case "/upload":
            .text(
                "\(try request.discardBody()) bytes, \(request.headers["content-encoding"] ?? "as they are")"
            )
        case "/large": .pattern(count: 3_000_000)
        case "/film": film(request)
        case "/log": .chunked(["one\ntw", "o\nthree"].map { Array($0.utf8) })
        case "/events": counts.next("events") == 1 ? events : .status(204)
        case "/latin": .bytes([0x63, 0x61, 0x66, 0xE9], ["Content-Type": "text/plain; charset=iso-8859-1"])
        case "/fields": .text(request.headers["x-request-id"] ?? "none")
        case "/whoami": .text(request.tls?.clientSubject ?? "no certificate")
        default: .text("no such page", status: 404)
        }
    }

    private static var events: FixtureReply {
        .text("data: one\n\nid: 2\ndata: two\n\n", ["Content-Type": "text/event-stream"]).then(.close)
    }

    private static func json(_ text: String, status: Int = 200) -> FixtureReply {
        .text(text, status: status, ["Content-Type": "application/json"])
    }

    private static func page(of request: FixtureRequest) -> FixtureReply {
        request.query == "page=2" ? json("[3]") : .text("[1,2]", ["Link": "</items?page=2>; rel=\"next\""])
    }

    private static func authorized(_ request: FixtureRequest) -> FixtureReply {
        switch request.headers["authorization"] {
        case "Basic YW5uOnNlY3JldA==", "Bearer new": .text("come in")
        default: .status(401, ["WWW-Authenticate": "Basic realm=\"shop\", Bearer"])
        }
    }

    /// A file whose first response breaks off after 100,000 bytes.
    private static func film(_ request: FixtureRequest) -> FixtureReply {
        let size = 300_000
        let first = request.headers["range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
        let content = FixturePattern.bytes(at: first, count: first == 0 ? 100_000 : size - first)
        var fields: FixtureHeaders = ["ETag": "\"1\"", "Content-Length": "\(size - first)"]
        if first == 0 { return FixtureReply.bytes(content, fields).then(.cut) }
        fields.append("Content-Range", "bytes \(first)-\(size - 1)/\(size)")
        return .bytes(content, status: 206, fields)
    }
}

/// How often something was asked for.
private final class Counts: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    func next(_ name: String) -> Int {
        counts.withLock {
            $0[name, default: 0] += 1
            return $0[name, default: 0]
        }
    }
}

// What the recipes of docs/Cookbook.md name.

let kitchen: Kitchen = {
    do { return try Kitchen() } catch { fatalError("the servers do not start: \(error)") }
}()

/// Makes a client trust the authority of the servers.
func trust(_ settings: inout HTTPClient.Configuration) {
    settings.tls.roots = .only([.der(kitchen.authority.rootDER)])
}

/// Makes a client find the servers, and trust their authority.
func local(_ settings: inout HTTPClient.Configuration) {
    trust(&settings)
    do {
        for name in Kitchen.names {
            try settings.addresses.set([origin], for: HostPattern(name), port: 443)
            try settings.addresses.set([kitchen.plain.endpoint], for: HostPattern(name), port: 80)
        }
    } catch { fatalError("\(error)") }
}

let client = HTTPClient { local(&$0) }
let origin = kitchen.origin.endpoint
let edge = kitchen.edge.endpoint
let stranger = kitchen.stranger.endpoint
let dead = kitchen.dead.endpoint

/// Calls something on a thread of its own.
func onThread<Value: Sendable>(_ call: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread { continuation.resume(with: Result { try call() }) }.start()
    }
}

extension FixtureServer {
    /// The server's address and port.
    var endpoint: Endpoint {
        do { return try Endpoint(authority) } catch { fatalError("\(error)") }
    }
}
