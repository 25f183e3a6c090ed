internal import DirectCore
internal import DirectIO
internal import DirectTransport

/// Changes `http` URLs to `https` where the origin has HTTPS records (RFC 9460, section 9.5).
///
/// A layer asks for the records of a URL before it is used (`ask`). From then on the URL is changed wherever
/// HSTS would change it, until the time to live of the records ends. The resolver is not asked where it does
/// not choose the addresses: for requests with addresses, mapped hosts, proxies, Unix domain sockets, and
/// with a transport of the program's own.
final class RecordUpgrades: Sendable {
    /// The `http` origins that have records, and until when that is known.
    private let known: Locked<[Origin: Instant]>
    private let planner: RoutePlanner
    private let hasUnixSocket: Set<Origin>
    private let proxy: ProxySettings
    private let loop: EventLoop

    /// `nil` if the client does not want that.
    init?(_ configuration: HTTPClient.Configuration) {
        guard configuration.upgradesByHTTPSRecords, configuration.transport == nil else { return nil }
        known = Locked([:])
        planner = RoutePlanner(configuration)
        hasUnixSocket = Set(configuration.unixSockets.keys)
        proxy = configuration.proxy
        loop = configuration.loop
    }

    /// Returns the https URL to request instead of this one; `nil` if no records are known. Port 80 becomes
    /// 443, any other port stays.
    ///
    /// - Parameter request: The request for the URL, with the addresses that it has there.
    func upgrades(_ url: HTTPURL, for request: Request) -> HTTPURL? {
        guard url.scheme == .http, let end = known.withLock({ $0[url.origin] }), loop.now < end,
            isInCharge(of: url, for: request)
        else { return nil }
        return url.with(scheme: .https)
    }

    /// Forgets which origins have records.
    func forgetAll() {
        known.withLock { $0 = [:] }
    }

    /// Asks for the records of a URL, within the limits of a call. If there is no answer, the URL stays as it
    /// is.
    fileprivate func ask(
        about url: HTTPURL,
        for request: Request,
        call: Call
    ) async throws(CancellationError) {
        guard url.scheme == .http, isInCharge(of: url, for: request) else { return }
        let deadline = call.limit.deadline(.resolve, stall: call.timeouts.resolve, from: loop.now)
        let secure = url.with(scheme: .https)
        guard let records = try await planner.records(for: request, of: secure, deadline),
            !records.records.isEmpty
        else { return }
        let time = max(records.timeToLive ?? Self.shortest, Self.shortest).clampedNanoseconds
        let now = loop.now
        known.withLock { known in
            if known.count >= Self.most { known = known.filter { now < $0.value } }
            if known.count >= Self.most { known = [:] }
            known[url.origin] = now.advanced(byNanoseconds: time)
        }
    }

    /// Whether a resolver chooses the addresses of the request, at this URL and with `https`.
    private func isInCharge(of url: HTTPURL, for request: Request) -> Bool {
        guard request.addresses == nil, request.unixSocket == nil else { return false }
        return [url, url.with(scheme: .https)].allSatisfy { url in
            !hasUnixSocket.contains(url.origin) && (request.proxy ?? proxy).proxy(for: url) == nil
                && (try? planner.chosenRoute(for: request, to: url)) == nil
        }
    }

    /// The shortest time for which records are known: longer than a request takes to be built.
    private static let shortest = Duration.seconds(5)
    /// The highest number of origins.
    private static let most = 1000
}

extension ClientFields {
    /// Asks for the HTTPS records of a request's URL, if they may change it.
    func askForRecords(of request: Request, call: Call) async throws(CancellationError) {
        guard case .success(let url) = request.parsedURL else { return }
        try await askForRecords(of: request, at: url, call: call)
    }

    /// Asks for the HTTPS records of a URL, if they may change it.
    ///
    /// - Parameter request: The request for the URL, with the addresses that it has there.
    func askForRecords(
        of request: Request,
        at url: HTTPURL,
        call: Call
    ) async throws(CancellationError) {
        guard let records, upgrades(url, for: request) == nil else { return }
        try await records.ask(about: url, for: request, call: call)
    }
}
