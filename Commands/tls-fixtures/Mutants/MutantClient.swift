internal import DirectCore

/// A small HTTP client that breaks at most one sentence of the RFCs, to show that the vectors see it.
///
/// It has been written apart from this package's own client, and is as plain as possible. A ``Mutation``
/// changes bytes that it sends or accepts, and knows neither vectors nor verdicts. Without one it passes all
/// that it supports.
struct MutantClient: VectorClient {
    var mutation: Mutation?
    /// What it does besides, and may.
    var habits: Set<Habit> = []

    enum Habit {
        /// It connects once more than it needs to, and never uses that connection.
        case opensSpares
        /// It asks again behind a fault, but for what a POST asks.
        case asksAgain
        /// It sends cookies in another order than it should, or each of them twice.
        case sendsCookiesBackwards, sendsCookiesTwice
    }

    var facts: ClientDescription {
        let name = mutation.map { "mutant:\($0.rawValue)" } ?? "mutant"
        return ClientDescription(name: name, version: "1", codings: [])
    }

    var width: Int { 8 }

    func run(_ job: Job) async -> JobOutcome {
        if let why = job.reasonToLeave { return .left(why) }
        return await onThread { MutantVisit(job, self).outcome }
    }
}

extension Job {
    fileprivate var reasonToLeave: String? {
        let tls = [
            settings.versions != nil, settings.certificate != nil, settings.ech != nil, !settings.resumes,
            !settings.accepts.allSatisfy { $0 == .fault(.wrongName) },
        ]
        let dials = [settings.usesMap, settings.addressTexts != nil, settings.dialling != nil]
        let isElsewhere = ["routes", "path", "events", "decoding", "values"].contains(topic)
        let reasons = [
            (isElsewhere || settings.readsEvents || settings.decoding != nil, "it knows nothing of this"),
            (kept.contains(.sessions), "it keeps no such thing"),
            (settings.leniency != nil || settings.limits != nil, "it has no such settings"),
            (tls.contains(true), "it has no such settings of TLS"),
            (dials.contains(true), "it takes addresses as they are"),
            (!(quiet ?? [:]).isEmpty, "it waits for each address"),
            (settings.proxy?.isGivenAddresses ?? false, "it gives a proxy names"),
            (requests.contains { !$0.upgrade.isEmpty }, "it switches to no other protocol"),
        ]
        return reasons.first { $0.0 }?.1
    }
}

/// A request of the mutant client.
struct MutantRequest {
    var url: HTTPURL
    var method: String
    /// What the client's settings say, and what the caller gives.
    var fields: [MutantField]
    var body: [UInt8]?
    var isStream = false

    mutating func set(_ name: String, to value: String) {
        fields = fields.without([name.lowercased()]) + [MutantField(name, value)]
    }
}

/// One job of the mutant client.
final class MutantVisit {
    let job: Job
    let mutation: Mutation?
    private let habits: Set<MutantClient.Habit>
    private var streams: [String: MutantStream] = [:]
    private var spares: [MutantStream] = []
    private var jar: MutantJar?
    private var known: MutantHSTS?
    private var digest: MutantDigest?
    private var cache: MutantCache?
    private var deadline = ContinuousClock.now
    /// Whether the request goes to a host that is known by HSTS.
    private var isToKnownHost = false

    init(_ job: Job, _ client: MutantClient) {
        (self.job, mutation, habits) = (job, client.mutation, client.habits)
        if job.kept.contains(.cookies) { jar = MutantJar(mutation) }
        if job.kept.contains(.cache) { cache = MutantCache(mutation) }
        if job.kept.contains(.hsts) { known = MutantHSTS(mutation) }
    }

    var outcome: JobOutcome {
        defer { closeAll() }
        var outcomes: [RequestOutcome] = []
        for request in job.requests {
            deadline = .now.advanced(by: .milliseconds(job.timeout * job.patience))
            do throws(MutantFault) {
                outcomes.append(try outcome(of: request))
            } catch .left(let why) {
                return .left(why)
            } catch {
                if !streams.values.contains(where: \.outlivesFault) { closeAll() }
                let asksAgain = habits.contains(.asksAgain) && request.method != "POST"
                let again = asksAgain ? try? outcome(of: request) : nil
                outcomes.append(again ?? error.outcome)
            }
            if !job.kept.contains(.connections) { closeAll() }
        }
        return .done(outcomes)
    }

    private func closeAll() {
        for stream in Array(streams.values) + spares { stream.end() }
        (streams, spares) = ([:], [])
    }

    private func outcome(of asked: Job.Request) throws(MutantFault) -> RequestOutcome {
        let own = asked.fields.map(MutantField.init)
        let fields = job.settings.fields.map(MutantField.init).without(own.map(\.key)) + own
        var request = MutantRequest(url: try url(asked.url), method: asked.method, fields: fields)
        (request.body, request.isStream) = (asked.body, asked.isStream)
        let now = job.time.map { $0 + asked.time } ?? UnixTime.now.seconds
        // A policy counts only if nothing was wrong with the connection.
        let isProved = job.settings.accepts.isEmpty || mutation == .hstsDespiteErrors
        var hops = 0
        while true {
            let isOther = mutation == .hstsOfOneSpelling && asked.url != asked.url.lowercased()
            let secured = isOther ? nil : known?.url(for: request.url, at: now)
            isToKnownHost = secured != nil
            request.url = secured ?? request.url
            let response = try cached(request, at: now)
            let isDeaf =
                mutation == .hstsOfSuccess && response.status >= 400
                || mutation == .hstsOfGET && request.method != "GET"
            if isProved, !isDeaf { known?.note(response.fields, from: request.url, at: now) }
            let locations = response.fields.values("location")
            guard job.settings.follows, [301, 302, 303, 307, 308].contains(response.status),
                let location = locations.first
            else { return response.outcome(at: request.url) }
            hops += 1
            try demand(locations.count == 1, "several locations")
            try demand(hops <= job.settings.redirects.limit ?? 20, "too many redirects")
            try redirect(&request, status: response.status, to: location, at: now, hop: hops)
        }
    }

    private func url(_ text: String) throws(MutantFault) -> HTTPURL {
        let authority = text.split(separator: "/").prefix(2).joined()
        try demand(mutation != .exactNames || authority == authority.lowercased(), "another name")
        let host = mutation == .emptyHosts ? job.routes.first.map { "http://\($0.authority)/" } : nil
        guard let url = (try? HTTPURL(text)) ?? host.flatMap({ try? HTTPURL($0) }) else {
            throw .refused("no valid URL")
        }
        return url
    }

    /// Answers a request by the cache, if there is one, or sends it.
    private func cached(_ request: MutantRequest, at now: Int64) throws(MutantFault) -> MutantResponse {
        guard var cache else { return try answer(request, at: now) }
        defer { self.cache = cache }
        let clock = { [isHeld = job.time != nil] in
            isHeld ? now * 1000 : Int64(UnixTime.nanoseconds / 1_000_000)
        }
        let response = try cache.answer(request, clock: clock) { asked throws(MutantFault) in
            try self.answer(asked, at: now)
        }
        if response.isIncomplete { throw .ended("the content is too short") }
        return response
    }

    /// Sends a request and reads its response, with answers to challenges.
    private func answer(_ asked: MutantRequest, at now: Int64) throws(MutantFault) -> MutantResponse {
        var request = asked
        if let cookie = jar?.field(for: request.url, at: now), !request.fields.has("cookie") {
            let joined = mutation == .cookiesWithoutBlanks ? cookie.replacing("; ", with: ";") : cookie
            var cookies = joined.split(separator: "; ").map(String.init)
            if habits.contains(.sendsCookiesBackwards) { cookies.reverse() }
            if habits.contains(.sendsCookiesTwice) { cookies += cookies }
            let values = mutation == .cookieFields ? cookies : [cookies.joined(separator: "; ")]
            request.fields += values.map { MutantField("Cookie", $0) }
        }
        var response = try exchange(request)
        let target = "http://\(request.url.authority)\(request.url.target)"
        if response.status == 407, let field = try proxyAnswer(to: response, request.method, target) {
            request.set(proxyField, to: field)
            response = try exchange(request)
        }
        jar?.take(response.fields.values("set-cookie"), from: request.url, at: now)
        let isOfOrigin = (try? HTTPURL(job.requests[0].url).origin) == request.url.origin
        guard let credentials = job.settings.credentials, isOfOrigin || mutation == .leaksAnswers else {
            return response
        }
        var answerer = digest ?? MutantDigest(credentials.user, credentials.password, mutation)
        for round in 0..<2 where response.status == 401 {
            let field = try answerer.answer(
                to: response.fields.values("www-authenticate"),
                schemes: credentials.schemes,
                method: request.method,
                target: request.url.target,
                isAgain: round > 0
            )
            guard let field else { break }
            request.set("Authorization", to: field)
            response = try exchange(request)
        }
        digest = answerer
        return response
    }

    /// Sends a request on a connection that is kept or a new one.
    private func exchange(_ request: MutantRequest) throws(MutantFault) -> MutantResponse {
        // The proxy that gets the whole request, if there is one.
        let proxy = request.url.scheme == .http ? job.settings.proxy : nil
        let key = "\(request.url.origin)"
        let mayTakeMore = mutation == .skipsContent || mutation == .goesOnAfterClose
        if let stream = streams[key], stream.isOpen,
            mayTakeMore || stream.takesLeftovers || !stream.hasUnread()
        {
            let onKept = mutation == .unframedOnKept ? .sendsUnframed : mutation
            do throws(MutantFault) {
                return try exchange(request, try request.written(onKept, proxy: proxy), on: stream)
            } catch .ended where request.body == nil {
                stream.end()
            }
        }
        let message = try request.written(mutation, proxy: proxy)
        let stream = try dial(request.url)
        streams[key] = stream
        return try exchange(request, message, on: stream)
    }

    private func exchange(
        _ request: MutantRequest,
        _ message: (head: [UInt8], content: [UInt8]),
        on stream: MutantStream
    ) throws(MutantFault) -> MutantResponse {
        let waits =
            mutation == .waitsUnasked || mutation == .waitsWithPUT && request.method == "PUT"
            || mutation == .waitsWithStreams && request.isStream
        if waits, !message.content.isEmpty {
            try stream.write(message.head)
            _ = stream.hasUnread(within: 2000)
            try stream.write(message.content)
        } else {
            try stream.write(message.head + message.content)
        }
        let response = try stream.response(to: request.method)
        let isLast = request.fields.elements("connection").contains("close") && mutation != .goesOnAfterClose
        let hasMore = !stream.buffer.isEmpty && !stream.takesLeftovers && mutation != .skipsContent
        if isLast || hasMore || mutation == .oneRequestEach { stream.isOpen = false }
        if !stream.isOpen { stream.end() }
        return response
    }

    private func dial(_ url: HTTPURL) throws(MutantFault) -> MutantStream {
        let host = url.host.address.map { "\($0)" } ?? "\(url.host)"
        guard let proxy = job.settings.proxy else {
            if habits.contains(.opensSpares) { spares.append(try connect(host, url.port)) }
            let stream = try connect(host, url.port)
            if url.scheme == .https, mutation != .httpsInClear { try secure(stream, host: host) }
            return stream
        }
        guard url.scheme == .https else { return try stream(proxy.place) }
        let authority = url.port == 443 ? "\(url.authority):443" : url.authority
        let target =
            switch mutation {
            case .tunnelsToURLs: "https://\(authority)/"
            case .tunnelsWithoutPort: url.authority
            default: authority
            }
        var field = proxy.authorization.map { "Proxy-Authorization: \($0)\r\n" } ?? ""
        for isAgain in [false, true] {
            let stream = try stream(proxy.place)
            let head = "CONNECT \(target) HTTP/1.1\r\nHost: \(authority)\r\n\(field)\r\n"
            try stream.write(Array(head.utf8))
            let response = try stream.response(to: "CONNECT")
            if response.status == 407, !isAgain,
                let answer = try proxyAnswer(to: response, "CONNECT", authority)
            {
                field = "\(proxyField): \(answer)\r\n"
                continue
            }
            try demand((200..<300).contains(response.status), "the proxy says \(response.status)")
            try secure(stream, host: host)
            return stream
        }
        throw .refused("the proxy refuses every answer")
    }

    private func secure(_ stream: MutantStream, host: String) throws(MutantFault) {
        let isLax = mutation == .anyCertificate || mutation == .hstsIgnoresErrors && isToKnownHost
        let anyName = !job.settings.accepts.isEmpty
        try stream.secure(host: host, roots: job.roots, anyCertificate: isLax, anyName: anyName)
    }

    private var proxyField: String {
        mutation == .answersProxiesAsOrigins ? "Authorization" : "Proxy-Authorization"
    }

    /// The answer to the challenge of a proxy by Digest. `nil` if it has none.
    private func proxyAnswer(
        to response: MutantResponse,
        _ method: String,
        _ target: String
    ) throws(MutantFault) -> String? {
        guard let proxy = job.settings.proxy, proxy.isAnsweredByDigest, let user = proxy.user,
            let password = proxy.password
        else { return nil }
        var answerer = MutantDigest(user, password, mutation)
        let isShort = mutation == .digestPathForProxies && method != "CONNECT"
        let path = "/" + target.split(separator: "/").dropFirst(2).joined(separator: "/")
        return try answerer.answer(
            to: response.fields.values("proxy-authenticate"),
            schemes: ["digest"],
            method: method,
            target: isShort ? path : target
        )
    }

    /// Connects to the first address of the job for this place that answers.
    private func connect(_ host: String, _ port: UInt16) throws(MutantFault) -> MutantStream {
        func plain(_ host: String) -> String {
            (host.hasSuffix(".") ? String(host.dropLast()) : host).lowercased()
        }
        let route = job.routes.first { plain($0.host) == plain(host) && $0.port == port }
        var fault = MutantFault.refused("no address for \(host):\(port)")
        for address in route?.addresses ?? [] {
            do throws(MutantFault) {
                let first = try stream(address)
                // The others are connected to as well, and closed.
                let others = mutation == .dialsAllAtOnce ? route?.addresses ?? [] : []
                for other in others { _ = try? stream(other) }
                return first
            } catch { fault = error }
        }
        throw fault
    }

    private func stream(_ place: String) throws(MutantFault) -> MutantStream {
        try MutantStream(place, deadline: deadline, mutation: mutation)
    }

    private func redirect(
        _ request: inout MutantRequest,
        status: Int,
        to location: String,
        at now: Int64,
        hop: Int
    ) throws(MutantFault) {
        let settings = job.settings.redirects
        let old = request.url
        var text = String(decoding: location.bytesOfField, as: UTF8.self)
        if mutation == .emptyHostsInLocations, text.hasPrefix("http:///") || text.hasPrefix("https:///") {
            let rest = text.split(separator: "/").dropFirst().joined()
            text = "\(old.scheme.rawValue)://\(old.authority)/\(rest)"
        }
        if let fragment = old.fragment, !text.contains("#"), mutation != .losesFragments {
            text += "#\(fragment)"
        }
        guard let found = try? old.resolving(text) else { throw .refused("no valid location") }
        let new = known?.url(for: found, at: now) ?? found
        let isDowngrade = old.scheme == .https && new.scheme == .http
        let mayDowngrade = settings.allowsDowngrade || mutation == .leaksAnswers
        try demand(!isDowngrade || mayDowngrade, "a redirect to http")
        let leaks =
            switch mutation {
            case .leaksToNetworkPaths: text.hasPrefix("//")
            case .leaksInLowerCase: request.method != request.method.uppercased()
            case .leaksOnSecondHop: hop > 1
            case .leaksInClear: old.scheme == .http && new.scheme == .http
            case .leaksUpgraded: old.scheme == .http && new.scheme == .https
            case .leaksFromAddresses: old.host.address != nil
            default: ["leaksBehind\(status)", "leaksOf\(request.method)"].contains(mutation?.rawValue)
            }
        let isSame = old.origin == new.origin || leaks
        let losesMethod =
            status == 303 && request.method != "HEAD"
            || [301, 302].contains(status) && request.method == "POST"
            || mutation == .losesMethod && status == 307
        if losesMethod {
            (request.method, request.body) = ("GET", nil)
            request.fields = request.fields.without([
                "content-type", "content-length", "content-encoding", "content-language",
                "content-location", "content-md5", "transfer-encoding", "trailer", "expect", "digest",
                "last-modified",
            ])
        } else if request.body != nil {
            try demand(!request.isStream, "the content was sent already")
            try demand(isSame || settings.carriesBodyAcrossOrigins, "the content is for its origin")
        }
        if !isSame {
            let safe = ["accept", "accept-encoding", "accept-language", "content-type", "user-agent"]
            let surviving = safe + settings.surviving.map { $0.lowercased() }
            request.fields.removeAll { !surviving.contains($0.key) }
        }
        // The jar's cookies are chosen anew.
        let stale = jar == nil || leaks ? ["referer", "host"] : ["referer", "host", "cookie"]
        request.fields = request.fields.without(stale)
        if settings.sendsReferer, !isDowngrade || mutation == .refersFromSecret {
            let bare = old.withoutCredentials.withoutFragment.text
            request.set("Referer", to: mutation == .refersWithUsers ? old.text : bare)
        }
        request.url = new
    }
}

extension Job.ProxyChoice {
    /// The value of Proxy-Authorization, by Basic.
    var authorization: String? {
        guard let user, let password, !isAnsweredByDigest else { return nil }
        return "Basic \(Base64.encode(Array("\(user):\(password)".utf8)))"
    }
}

extension MutantResponse {
    fileprivate func outcome(at url: HTTPURL) -> RequestOutcome {
        let pairs = fields.map { ($0.name, $0.value) }
        var reported = ReportedResponse(status: status, fields: pairs, body: content)
        (reported.reason, reported.version, reported.interims) = (reason, version, interims)
        reported.trailers = trailers.map { ($0.name, $0.value) }
        (reported.url, reported.use) = (url.text, use)
        return RequestOutcome(.response(reported))
    }
}
