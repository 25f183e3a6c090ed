@testable import DirectCore
import DirectHTTP1
import DirectTestResolvers
@testable import DirectTransport

@testable import DirectHTTP

/// The first request of a call, as its caller makes it for a client with these settings, and what follows of
/// it before a byte moves.
struct PlannedRequest: Sendable {
    typealias Settings = HTTPClient.Configuration

    let name: String
    let url: String
    var settings: @Sendable (inout Settings) throws -> Void = { _ in }
    var request: @Sendable (inout Request) throws -> Void = { _ in }
    /// What an interceptor of calls makes of the request.
    var made: (@Sendable (Request) throws -> Request)?
    /// The `Location` of a redirect (307) that the request has met.
    var location: String?

    init(
        _ name: String,
        _ url: String,
        settings: @escaping @Sendable (inout Settings) throws -> Void = { _ in },
        request: @escaping @Sendable (inout Request) throws -> Void = { _ in },
        made: (@Sendable (Request) throws -> Request)? = nil,
        location: String? = nil
    ) {
        (self.name, self.url, self.settings, self.request) = (name, url, settings, request)
        (self.made, self.location) = (made, location)
    }

    /// One row of the table: the name, and of the request that is sent
    /// - the URL;
    /// - the proxy, `direct` without one;
    /// - where the bytes go: `system` (any address of the system's resolver), `by proxy` (any that the proxy
    ///   finds), `ask NAME` (the resolver is asked), `unix PATH`, or endpoints, with the source that named
    ///   them;
    /// - `certificate` if the client's may be shown to the server, else `-`;
    /// - the fields that tell who is asking, by name; `-` for none.
    ///
    /// Or what is refused, in the words of the error.
    var row: String {
        get throws {
            let columns: [String]
            do { columns = try plan() } catch let error as HTTPError {
                columns = ["refused: \(error.reason)"]
            }
            return ([name] + columns).joined(separator: " | ")
        }
    }

    private func plan() throws -> [String] {
        var configuration = Settings()
        try settings(&configuration)
        let pipeline = HTTPClient(configuration).pipeline
        var request = Request(.get, url)
        try self.request(&request)
        let crossing = pipeline.fields.crossing(by: request.redirects ?? configuration.redirects)
        var hop = pipeline.begun(request)
        if let made {
            let shown = request.resolved(against: configuration.baseURL).traced
            hop = pipeline.begun(shown).rebuilt(as: try made(shown), shown: [shown], crossing)
        }
        if let location {
            let head = ResponseHead(status: .temporaryRedirect, headers: ["Location": location])
            let upgrade = { pipeline.fields.hsts?.upgrades($0, at: .now) }
            let at = try hop.request.checkedURL()
            let next = try NextHop(
                after: hop.request,
                at: at,
                head,
                configuration.redirects,
                upgrade: upgrade
            )
            if let next { hop = hop.redirected(next, crossing: crossing) }
        }
        let url = try hop.request.checkedURL()
        let plan = try Self.plan(hop, to: url, by: pipeline.roundTrip.planner)
        var fields = plan.message.headers
        fields.complete(with: plan.message.defaults)
        let names = fields.identifying.map { $0.name.lowercased() }.sorted().joined(separator: ", ")
        return [
            url.text, plan.way.target.proxy.map { "\($0.proxy)" } ?? "direct", Self.place(plan.way),
            configuration.tls.clientIdentity == nil || plan.way.isAnonymous ? "-" : "certificate",
            names.isEmpty ? "-" : names,
        ]
    }

    private static func plan(_ hop: HopRequest, to url: HTTPURL, by planner: Planner) throws -> RequestPlan {
        do throws(TransportError.Reason) {
            return try planner.plan(for: hop.request, trail: hop.trail, to: url)
        } catch {
            throw HTTPError(.request, HTTPError.Reason(error), url: url)
        }
    }

    private static func place(_ way: borrowing Way) -> String {
        if let query = way.query { return "ask \(query.resolver.name)" }
        switch way.target.route {
        case .system: return "system"
        case .byProxy: return "by proxy"
        case .unixSocket(let socket): return "unix \(socket.path)"
        case .literal(let address, let port): return "\(Endpoint(address, port: port)) (url)"
        case .chosen(let selection):
            return selection.endpoints.map { "\($0)" }.joined(separator: ", ") + " (\(selection.source))"
        }
    }
}

extension PlannedRequest {
    static let all: [PlannedRequest] = plain + proxied + local + upgraded + based + intercepted

    private static let plain: [PlannedRequest] = [
        .init("A name", "http://a.test/"),
        .init("A name over TLS, at another port", "https://a.test:8443/x?y=1"),
        .init("An address in place of the name", "https://192.0.2.1/"),
        .init("An IPv6 address in place of the name", "http://[2001:db8::1]:81/"),
        .init(
            "Addresses of the request",
            "https://a.test/",
            request: { $0.addresses = ["192.0.2.1", "192.0.2.2:81"] }
        ),
        .init("An empty list of addresses", "https://a.test/", request: { $0.addresses = [] }),
        .init("A map of the client", "https://a.test/", settings: { $0.addresses = try map("192.0.2.3") }),
        .init(
            "A map of the client, and addresses of the request",
            "https://a.test/",
            settings: { $0.addresses = try map("192.0.2.3") },
            request: { $0.addresses = ["192.0.2.1"] }
        ),
        .init(
            "A map of the client, and one of the request",
            "https://a.test/",
            settings: { $0.addresses = try map("192.0.2.3") },
            request: { $0.addressMap = try map("192.0.2.4") }
        ),
        .init("A resolver of the client", "https://a.test/", settings: { $0.resolver = client }),
        .init(
            "A resolver of the client, and a map that has the name",
            "https://a.test/",
            settings: {
                $0.resolver = client
                $0.addresses = try map("192.0.2.3")
            }
        ),
        .init(
            "A resolver of the client, and one of the request",
            "https://a.test/",
            settings: { $0.resolver = client },
            request: { $0.resolver = own }
        ),
        .init(
            "A resolver, and an address in the URL",
            "http://192.0.2.1/",
            settings: { $0.resolver = client }
        ),
    ]

    private static let proxied: [PlannedRequest] = [
        .init("A proxy", "https://a.test/", settings: { $0.proxy = try proxy }),
        .init("A proxy for a request without TLS", "http://a.test/", settings: { $0.proxy = try proxy }),
        .init("A proxy, and an exception for the name", "http://b.test/", settings: { $0.proxy = try proxy }),
        .init("A proxy of the request", "http://a.test/", request: { $0.proxy = try proxy }),
        .init(
            "A proxy of the client, and none for the request",
            "http://a.test/",
            settings: { $0.proxy = try proxy },
            request: { $0.proxy = ProxySettings() }
        ),
        .init(
            "A proxy, and addresses of the request",
            "https://a.test/",
            settings: { $0.proxy = try proxy },
            request: { $0.addresses = ["192.0.2.1"] }
        ),
        .init(
            "A proxy, and a resolver of the client",
            "https://a.test/",
            settings: {
                $0.proxy = try proxy
                $0.resolver = client
            }
        ),
        .init(
            "A proxy to which the client names addresses, and a resolver",
            "https://a.test/",
            settings: {
                $0.proxy = ProxySettings(try Proxy("socks5://proxy.test"))
                $0.resolver = client
            }
        ),
        .init("A proxy, and an address in the URL", "https://192.0.2.1/", settings: { $0.proxy = try proxy }),
    ]

    private static let local: [PlannedRequest] = [
        .init(
            "A Unix domain socket of the request",
            "http://a.test/",
            request: { $0.unixSocket = try socket }
        ),
        .init(
            "A Unix domain socket of the client",
            "http://a.test/x",
            settings: { $0.unixSockets[try home] = try socket }
        ),
        .init(
            "A Unix domain socket for another origin",
            "https://a.test/",
            settings: { $0.unixSockets[try home] = try socket }
        ),
        .init(
            "A Unix domain socket of the client, and addresses of the request",
            "http://a.test/",
            settings: { $0.unixSockets[try home] = try socket },
            request: { $0.addresses = ["192.0.2.1"] }
        ),
        .init(
            "A Unix domain socket of the request, and addresses",
            "http://a.test/",
            request: {
                $0.unixSocket = try socket
                $0.addresses = ["192.0.2.1"]
            }
        ),
        .init(
            "A Unix domain socket of the client, and a proxy",
            "http://a.test/",
            settings: {
                $0.unixSockets[try home] = try socket
                $0.proxy = try proxy
            }
        ),
        .init(
            "A redirect of another server to a Unix domain socket",
            "http://b.test/",
            settings: { $0.unixSockets[try home] = try socket },
            location: "http://a.test/"
        ),
    ]

    private static let upgraded: [PlannedRequest] = [
        .init("HSTS for the name", "http://a.test/", settings: { $0.hsts = known }),
        .init("HSTS for the name, at another port", "http://a.test:8080/", settings: { $0.hsts = known }),
        .init(
            "HSTS, and a Unix domain socket for http",
            "http://a.test/",
            settings: {
                $0.hsts = known
                $0.unixSockets[try home] = try socket
            }
        ),
        .init(
            "A redirect to a name with HSTS",
            "http://b.test/",
            settings: { $0.hsts = known },
            location: "http://a.test/"
        ),
    ]

    private static let based: [PlannedRequest] = [
        .init("A path below the base URL", "users?n=1", settings: { based(&$0) }),
        .init("A URL at the base's origin", "https://a.test/x", settings: { based(&$0) }),
        .init("A URL elsewhere than the base", "https://b.test/x", settings: { based(&$0) }),
    ]

    private static let intercepted: [PlannedRequest] = [
        .init(
            "An interceptor sends a copy to another path",
            "https://a.test/",
            settings: { secret(&$0) },
            request: { $0.addresses = ["192.0.2.1"] },
            made: { try $0.replacing(url: "https://a.test/other") }
        ),
        .init(
            "An interceptor sends a copy to another origin",
            "https://a.test/",
            settings: { secret(&$0) },
            request: {
                $0.addresses = ["192.0.2.1"]
                $0.headers["Authorization"] = "secret"
            },
            made: { try $0.replacing(url: "https://b.test/") }
        ),
        .init(
            "An interceptor makes a request for another origin, with a field for it",
            "https://a.test/",
            settings: { secret(&$0) },
            made: { _ in Request(.get, "https://b.test/", headers: ["Authorization": "of b"]) }
        ),
        .init(
            "A redirect to another origin",
            "https://a.test/",
            settings: { secret(&$0) },
            request: {
                $0.addresses = ["192.0.2.1"]
                $0.headers["Authorization"] = "secret"
            },
            location: "https://b.test/"
        ),
    ]

    private static func map(_ endpoint: Endpoint) throws -> StaticMap {
        var map = StaticMap()
        try map.set([endpoint], for: HostPattern("a.test"))
        return map
    }

    private static let client = ScriptedResolver("of-client", ["192.0.2.5"])
    private static let own = ScriptedResolver("of-request", ["192.0.2.6"])
    private static var proxy: ProxySettings {
        get throws {
            ProxySettings(try Proxy("http://proxy.test:3128"), except: try ProxyExceptions("b.test"))
        }
    }
    private static var socket: UnixSocketPath { get throws { try UnixSocketPath("/run/a.sock") } }
    private static var home: Origin { get throws { try HTTPURL("http://a.test/").origin } }
    private static let known: HSTSStore = {
        let store = HSTSStore()
        if let name = try? DomainName("a.test") { store.add(.init(name, until: UnixTime(seconds: .max))) }
        return store
    }()

    /// A client that shows who it is.
    private static func secret(_ settings: inout Settings) {
        settings.headers["X-Api-Key"] = "secret"
        settings.tls.clientIdentity = .pkcs12File("/client.p12", passphrase: "")
    }

    private static func based(_ settings: inout Settings) {
        secret(&settings)
        settings.baseURL = try? HTTPURL("https://a.test/")
    }
}
