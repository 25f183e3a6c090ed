internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// All that is known of a request before a byte moves: what is sent, and on which way.
struct RequestPlan: ~Copyable {
    let message: OutgoingMessage
    let way: Way
}

/// Where a request connects, and over what.
struct Way: ~Copyable {
    /// The addresses and the proxy. The addresses are those of the system until `query` has named others.
    // Beside the query, not in one enum with it: to unwrap a route costs a small request 200 instructions.
    let target: ConnectionTarget
    /// The settings of the connection, with the client's Unix domain socket for the origin if there is one;
    /// `nil` for the client's own.
    let settings: ConnectionSettings.Box?
    /// Whether the client's certificate is withheld.
    let isAnonymous: Bool
    /// The resolver to ask for the route; `nil` if none is.
    let query: ResolverQuery?
}

/// Makes the plans of one client's requests. Nothing here waits, or asks other code.
///
/// The order of precedence of addresses: the request's own, the request's map, the client's map, an address
/// literal in the URL, the request's resolver, the client's. The system's resolver is asked only if the
/// client has no other resolver.
///
/// An empty list of addresses, in a request or in a resolver's answer, is an error: the next source is not
/// asked.
final class Planner: Sendable {
    let fields: ClientFields
    let loop: EventLoop
    /// The threads of the client, on which resolvers run.
    let threads: BlockingWork
    private let map: StaticMap
    private let resolver: (any Resolver)?
    private let hasResolver: Bool
    private let proxies: ProxyEntries
    /// Whether the client has proxies for requests without ones of their own.
    private let hasProxies: Bool
    /// The Unix domain sockets of the client, by origin.
    private let unixSockets: [Origin: UnixSocketPath]
    /// The client's limits on the speed of bodies; `nil` if there are none.
    private let rates: ExchangeOptions.Box?

    init(_ configuration: HTTPClient.Configuration, fields: ClientFields, on threads: BlockingWork) {
        self.fields = fields
        self.threads = threads
        loop = configuration.loop
        map = configuration.addresses
        resolver = configuration.resolver
        hasResolver = configuration.resolver != nil
        proxies = ProxyEntries(configuration.proxy, tls: configuration.tls) { [configuration] proxy in
            ProxyAuthentication(configuration.proxyAuthenticators, for: proxy)
        }
        hasProxies = configuration.proxy != ProxySettings()
        unixSockets = configuration.unixSockets
        if configuration.sendingRate != nil || configuration.receivingRate != nil {
            var rates = ExchangeOptions()
            (rates.sendingRate, rates.receivingRate) = (
                configuration.sendingRate, configuration.receivingRate
            )
            self.rates = ExchangeOptions.Box(rates)
        } else {
            rates = nil
        }
    }

    /// Returns the plan for a request to this URL, which is its own.
    func plan(for request: Request, trail: Trail?, to url: HTTPURL) throws(TransportError.Reason)
        -> RequestPlan
    {
        let way = try way(of: request, trail: trail, to: url)
        let defaults = fields.defaults(for: request, trail: trail)
        let headers = request.hasAllFields ? request.headers : request.completedHeaders(defaults)
        // Given away: without `consume` the compiler keeps a copy of each, which costs 300 instructions.
        return RequestPlan(
            message: OutgoingMessage(
                request.method,
                headers: consume headers,
                defaults: consume defaults,
                body: request.body.content,
                options: rates == nil ? request.exchangeBox : limited(request.exchangeBox)
            ),
            way: way
        )
    }

    /// Returns the way of a request to this URL.
    func way(of request: Request, trail: Trail?, to url: HTTPURL) throws(TransportError.Reason) -> Way {
        let settings = try settings(of: request, trail: trail, to: url)
        let proxy = settings?.settings.unixSocket == nil ? proxy(for: url, of: request) : nil
        var (route, query): (Route, ResolverQuery?) = (.system, nil)
        if let settings = settings?.settings, let path = settings.unixSocket {
            route = try unixSocketRoute(to: path, for: request, settings)
        } else if let chosen = try chosenRoute(for: request, to: url) {
            route = chosen
        } else if let proxy, proxy.proxy.lookup == .byProxy {
            route = .byProxy
        } else {
            switch url.host {
            case .address(let address): route = .literal(address, port: url.port)
            case .name(let name): query = self.query(for: request, to: url, name)
            }
        }
        return Way(
            target: ConnectionTarget(url, route: consume route, proxy: consume proxy),
            settings: settings,
            isAnonymous: trail?.isForeign(to: url) == true,
            query: query
        )
    }

    /// Returns the proxy of a request to this URL; `nil` if it connects directly.
    func proxy(of hop: borrowing HopRequest, to url: HTTPURL) throws(TransportError.Reason) -> ProxyEntry? {
        try way(of: hop.request, trail: hop.trail, to: url).target.proxy
    }

    /// Returns the client's Unix domain socket for the request; `nil` if there is none, or if the request
    /// names its addresses itself.
    func clientSocket(for request: Request, at url: HTTPURL) -> UnixSocketPath? {
        guard !unixSockets.isEmpty, request.addresses == nil,
            request.connectionSettings?.settings.unixSocket == nil
        else { return nil }
        return unixSockets[url.origin]
    }

    /// Returns the settings of the request's connection; `nil` if there are none.
    ///
    /// A server must not send the client to one of its Unix domain sockets: what listens there trusts the
    /// processes of this machine.
    private func settings(of request: Request, trail: Trail?, to url: HTTPURL) throws(TransportError.Reason)
        -> ConnectionSettings.Box?
    {
        let own = request.connectionSettings
        guard !unixSockets.isEmpty, let path = clientSocket(for: request, at: url) else { return own }
        guard trail?.isServersChoice != true else { throw .settings(.unixSocketBehindRedirect) }
        var settings = own?.settings ?? ConnectionSettings()
        settings.unixSocket = path
        return ConnectionSettings.Box(settings)
    }

    /// Returns the proxy for the request; `nil` to connect directly.
    private func proxy(for url: HTTPURL, of request: Request) -> ProxyEntry? {
        guard hasProxies || request.hasOptions else { return nil }
        return chosenProxy(for: url, of: request)
    }

    private func chosenProxy(for url: HTTPURL, of request: Request) -> ProxyEntry? {
        if let own = request.proxy { return proxies.entry(for: url, of: own) }
        return hasProxies ? proxies.entry(for: url) : nil
    }

    /// Returns the route if the request or a map names the addresses; `nil` otherwise.
    private func chosenRoute(for request: Request, to url: HTTPURL) throws(TransportError.Reason) -> Route? {
        if let addresses = request.addresses {
            guard !addresses.isEmpty else { throw .noAddresses }
            for case let fault? in addresses.lazy.map(\.fault) { throw .address(fault) }
            return .chosen(addresses, port: url.port, source: .request)
        }
        if request.hasOptions, let map = request.addressMap,
            let mapped = map.endpoints(for: url.host, port: url.port)
        {
            var selection = EndpointSelection(mapped, port: url.port, .request)
            if let config = map.echConfig(for: url.host) { selection.echConfig = { _ in config } }
            return .chosen(selection)
        }
        if !map.isEmpty, let mapped = map.endpoints(for: url.host, port: url.port) {
            return .chosen(mapped, port: url.port, source: .staticMap)
        }
        return nil
    }

    /// Returns the route to a Unix domain socket.
    private func unixSocketRoute(
        to path: UnixSocketPath,
        for request: Request,
        _ settings: ConnectionSettings
    ) throws(TransportError.Reason) -> Route {
        guard request.addresses == nil else { throw .settings(.unixSocketAndAddresses) }
        guard settings.local == nil else { throw .settings(.unixSocketAndBinding) }
        return .unixSocket(path)
    }

    /// Returns the query to the resolver that is in charge; `nil` if the system's is.
    private func query(for request: Request, to url: HTTPURL, _ name: DomainName) -> ResolverQuery? {
        if request.hasOptions, let own = request.resolver {
            return query(to: own, for: name, of: url, isOfRequest: true)
        }
        return hasResolver ? clientQuery(to: url, name) : nil
    }

    // Apart: a look at the resolver costs each request 80 instructions.
    private func clientQuery(to url: HTTPURL, _ name: DomainName) -> ResolverQuery? {
        resolver.map { query(to: $0, for: name, of: url, isOfRequest: false) }
    }

    private func query(to resolver: any Resolver, for name: DomainName, of url: HTTPURL, isOfRequest: Bool)
        -> ResolverQuery
    {
        ResolverQuery(
            resolver,
            for: name,
            port: url.port,
            context: ResolveContext(of: url, as: url.scheme, loop: loop, threads: threads),
            isOfRequest: isOfRequest,
            failure: { HTTPError.from($0, name: nil) }
        )
    }

    /// Returns the options with the client's limits where they have none of their own.
    private func limited(_ own: ExchangeOptions.Box?) -> ExchangeOptions.Box? {
        guard let rates, var options = own?.options else { return rates }
        options.sendingRate = options.sendingRate ?? rates.options.sendingRate
        options.receivingRate = options.receivingRate ?? rates.options.receivingRate
        return ExchangeOptions.Box(options)
    }
}

extension Request {
    /// Whether no field follows from the body or from options.
    fileprivate var hasAllFields: Bool {
        exchangeBox == nil && body.contentType == nil && !body.isGzipped && !isOptionsWithBody
    }
}

/// The authenticator of one proxy.
struct ProxyAuthentication: ProxyAuthorizer {
    private let authenticator: any Authenticator
    private let url: HTTPURL

    /// `nil` if there is no authenticator for the proxy, and for a proxy that speaks no HTTP.
    init?(_ authenticators: [Origin: any Authenticator], for proxy: Proxy) {
        guard proxy.scheme != .socks5, let url = try? HTTPURL("\(proxy)"),
            let authenticator = authenticators[url.origin]
        else { return nil }
        self.url = url
        self.authenticator = authenticator
    }

    func credentials(method: HTTPMethod, target: String, body: [UInt8]?) -> RenewedCredentials {
        let request = AuthenticationRequest(method: method, url: url, body: body, proxyTarget: target)
        return RenewedCredentials(authenticator, for: request)
    }
}
