internal import DirectCore

/// A small HTTP client that breaks at most one sentence of the RFCs, to show that the vectors see it.
///
/// It has been written apart from this package's own client, and is as plain as possible. A ``Mutation``
/// changes bytes that it sends or accepts, and knows neither vectors nor verdicts. Without one it passes all
/// that it supports.
struct MutantClient: VectorClient {
    var mutation: Mutation?

    var facts: ClientDescription {
        ClientDescription(
            name: mutation.map { "mutant:\($0.rawValue)" } ?? "mutant",
            version: "1",
            codings: []
        )
    }

    var width: Int { 8 }

    func run(_ job: Job) async -> JobOutcome {
        if let why = job.reasonToLeave { return .left(why) }
        return await onThread { [mutation] in MutantVisit(job, mutation).outcome }
    }
}

extension Job {
    fileprivate var reasonToLeave: String? {
        if ["routes", "path", "events", "decoding", "values"].contains(topic) {
            return "it knows nothing of this"
        }
        if kept.contains(.sessions) { return "it keeps no such thing" }
        if settings.readsEvents || settings.decoding != nil { return "it decodes nothing" }
        if settings.leniency != nil || settings.limits != nil { return "it has no such settings" }
        if settings.versions != nil || settings.certificate != nil || settings.ech != nil
            || !settings.accepts.isEmpty || !settings.resumes
        {
            return "it has no such settings of TLS"
        }
        if settings.usesMap || settings.addressTexts != nil || settings.dialling != nil {
            return "it takes addresses as they are"
        }
        if !(quiet ?? [:]).isEmpty { return "it waits for each address" }
        if settings.proxy?.isGivenAddresses ?? false { return "it gives a proxy names" }
        if requests.contains(where: { !$0.upgrade.isEmpty }) { return "it switches to no other protocol" }
        return nil
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
        remove([name.lowercased()])
        fields.append((Array(name.utf8), value.latin1Bytes ?? Array(value.utf8)))
    }

    mutating func remove(_ names: Set<String>) {
        fields.removeAll { names.contains($0.name.latin1.lowercased()) }
    }
}

/// One job of the mutant client.
private final class MutantVisit {
    private let job: Job
    private let mutation: Mutation?
    private var streams: [String: MutantStream] = [:]
    private var jar: MutantJar?
    private var known: MutantHSTS?
    private var digest: MutantDigest?
    private var cache: MutantCache?
    private var deadline = ContinuousClock.now
    /// Whether the request goes to a host that is known by HSTS.
    private var isToKnownHost = false

    init(_ job: Job, _ mutation: Mutation?) {
        (self.job, self.mutation) = (job, mutation)
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
                outcomes.append(error.outcome)
            }
            if !job.kept.contains(.connections) { closeAll() }
        }
        return .done(outcomes)
    }

    private func closeAll() {
        for stream in streams.values { stream.close() }
        streams = [:]
    }

    private func outcome(of asked: Job.Request) throws(MutantFault) -> RequestOutcome {
        var request = MutantRequest(
            url: try url(asked.url),
            method: asked.method,
            fields: asked.fields.map { ($0.name, $0.value) },
            body: asked.body,
            isStream: asked.isStream
        )
        let own = Set(request.fields.map { $0.name.latin1.lowercased() })
        request.fields =
            job.settings.fields.filter { !own.contains($0.name.latin1.lowercased()) }
            .map { ($0.name, $0.value) } + request.fields
        let now = job.time.map { $0 + asked.time } ?? UnixTime.now.seconds
        var hops = 0
        while true {
            let isOther = mutation == .hstsOfOneSpelling && asked.url != asked.url.lowercased()
            let secured = isOther ? nil : known?.url(for: request.url, at: now)
            isToKnownHost = secured != nil
            request.url = secured ?? request.url
            let response = try cached(request, at: now)
            known?.note(response.fields, from: request.url, at: now)
            guard job.settings.follows, [301, 302, 303, 307, 308].contains(response.status),
                let location = response.values("location").first
            else { return response.outcome(at: request.url) }
            guard response.values("location").count == 1 else { throw .refused("several locations") }
            hops += 1
            guard hops <= job.settings.redirects.limit ?? 20 else { throw .refused("too many redirects") }
            try redirect(&request, status: response.status, to: location, at: now, hop: hops)
        }
    }

    private func url(_ text: String) throws(MutantFault) -> HTTPURL {
        let authority = text.split(separator: "/").prefix(2).joined()
        if mutation == .exactNames, authority != authority.lowercased() { throw .refused("another name") }
        if let url = try? HTTPURL(text) { return url }
        if mutation == .emptyHosts, let route = job.routes.first,
            let url = try? HTTPURL("http://\(route.authority)/")
        {
            return url
        }
        throw .refused("no valid URL")
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
            for value in mutation == .cookieFields ? joined.split(separator: "; ") : [joined[...]] {
                request.fields.append((Array("Cookie".utf8), String(value).latin1Bytes ?? Array(value.utf8)))
            }
        }
        var response = try exchange(request)
        let target = "http://\(request.url.authority)\(request.url.target)"
        if response.status == 407, let field = try proxyAnswer(to: response, request.method, target) {
            request.set(proxyField, to: field)
            response = try exchange(request)
        }
        jar?.take(response.values("set-cookie"), from: request.url, at: now)
        if response.status == 401, let credentials = job.settings.credentials {
            let origin = try? HTTPURL(job.requests[0].url).origin
            guard origin == request.url.origin else { return response }
            var rounds = 0
            var answerer = digest ?? MutantDigest(credentials.user, credentials.password, mutation)
            while response.status == 401, rounds < 2,
                let field = try answerer.answer(
                    to: response.values("www-authenticate"),
                    schemes: credentials.schemes,
                    method: request.method,
                    target: request.url.target,
                    isAgain: rounds > 0
                )
            {
                rounds += 1
                request.set("Authorization", to: field)
                response = try exchange(request)
            }
            digest = answerer
        }
        return response
    }

    /// Sends a request on a connection that is kept or a new one.
    private func exchange(_ request: MutantRequest) throws(MutantFault) -> MutantResponse {
        let (head, content) = try request.written(mutation, proxy: forwarding(request.url))
        let key = "\(request.url.origin)"
        let mayTakeMore = mutation == .skipsContent || mutation == .goesOnAfterClose
        if let stream = streams[key], stream.isOpen, mayTakeMore || stream.takesLeftovers || !stream.hasUnread
        {
            do throws(MutantFault) {
                guard mutation == .unframedOnKept else {
                    return try exchange(request, head, content, on: stream)
                }
                let (head, content) = try request.written(.sendsUnframed, proxy: forwarding(request.url))
                return try exchange(request, head, content, on: stream)
            } catch .ended where request.body == nil {
                stream.close()
            }
        }
        let stream = try dial(request.url)
        streams[key] = stream
        return try exchange(request, head, content, on: stream)
    }

    private func exchange(
        _ request: MutantRequest,
        _ head: [UInt8],
        _ content: [UInt8],
        on stream: MutantStream
    ) throws(MutantFault) -> MutantResponse {
        let waits =
            mutation == .waitsUnasked || mutation == .waitsWithPUT && request.method == "PUT"
            || mutation == .waitsWithStreams && request.isStream
        if waits, !content.isEmpty {
            try stream.send(head)
            stream.waitForBytes(milliseconds: 2000)
            try stream.send(content)
        } else {
            try stream.send(head + content)
        }
        let response = try stream.response(to: request.method, mutation: mutation)
        if request.fields.elements("connection").contains("close"), mutation != .goesOnAfterClose {
            stream.isOpen = false
        }
        if !stream.buffer.isEmpty, !stream.takesLeftovers, mutation != .skipsContent {
            stream.isOpen = false
        }
        if mutation == .oneRequestEach { stream.isOpen = false }
        if !stream.isOpen { stream.close() }
        return response
    }

    /// The proxy that gets the whole request, if there is one.
    private func forwarding(_ url: HTTPURL) -> Job.ProxyChoice? {
        url.scheme == .http ? job.settings.proxy : nil
    }

    private func dial(_ url: HTTPURL) throws(MutantFault) -> MutantStream {
        let host = url.host.address.map { "\($0)" } ?? "\(url.host)"
        guard let proxy = job.settings.proxy else {
            let stream = try connect(host, url.port)
            guard url.scheme == .https, mutation != .httpsInClear else { return stream }
            let isLax = mutation == .hstsIgnoresErrors && isToKnownHost
            try stream.secure(host: host, roots: job.roots, isLax: isLax)
            return stream
        }
        guard url.scheme == .https else {
            return try MutantStream(proxy.place, deadline: deadline, mutation: mutation)
        }
        let authority = url.port == 443 ? "\(url.authority):443" : url.authority
        var target = authority
        if mutation == .tunnelsToURLs { target = "https://\(authority)/" }
        if mutation == .tunnelsWithoutPort { target = url.authority }
        var field = proxy.authorization.map { "Proxy-Authorization: \($0)\r\n" } ?? ""
        for isAgain in [false, true] {
            let stream = try MutantStream(proxy.place, deadline: deadline, mutation: mutation)
            let head = "CONNECT \(target) HTTP/1.1\r\nHost: \(authority)\r\n\(field)\r\n"
            try stream.send(Array(head.utf8))
            let response = try stream.response(to: "CONNECT", mutation: mutation)
            if response.status == 407, !isAgain,
                let answer = try proxyAnswer(to: response, "CONNECT", authority)
            {
                field = "\(proxyField): \(answer)\r\n"
                continue
            }
            guard (200..<300).contains(response.status) else {
                throw .refused("the proxy says \(response.status)")
            }
            try stream.secure(host: host, roots: job.roots)
            return stream
        }
        throw .refused("the proxy refuses every answer")
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
            to: response.values("proxy-authenticate"),
            schemes: ["digest"],
            method: method,
            target: isShort ? path : target,
            isAgain: false
        )
    }

    /// Connects to the first address of the job for this place that answers.
    private func connect(_ host: String, _ port: UInt16) throws(MutantFault) -> MutantStream {
        func plain(_ host: String) -> String {
            let host = host.lowercased()
            return host.hasSuffix(".") ? String(host.dropLast()) : host
        }
        guard let route = job.routes.first(where: { plain($0.host) == plain(host) && $0.port == port }),
            !route.addresses.isEmpty
        else { throw .refused("no address for \(host):\(port)") }
        var fault = MutantFault.refused("")
        if mutation == .dialsAllAtOnce, let stream = dialAll(route.addresses) { return stream }
        for address in route.addresses {
            do throws(MutantFault) {
                return try MutantStream(address, deadline: deadline, mutation: mutation)
            } catch { fault = error }
        }
        throw fault
    }

    /// Connects to all addresses, and keeps the first that answers.
    private func dialAll(_ addresses: [String]) -> MutantStream? {
        let streams = addresses.compactMap {
            try? MutantStream($0, deadline: deadline, mutation: mutation)
        }
        for stream in streams.dropFirst() { stream.close() }
        return streams.first
    }

    private func redirect(
        _ request: inout MutantRequest,
        status: Int,
        to location: [UInt8],
        at now: Int64,
        hop: Int
    ) throws(MutantFault) {
        let settings = job.settings.redirects
        let old = request.url
        var text = String(decoding: location, as: UTF8.self)
        if mutation == .emptyHostsInLocations, text.hasPrefix("http:///") || text.hasPrefix("https:///") {
            text =
                "\(old.scheme.rawValue)://\(old.authority)/\(text.split(separator: "/").dropFirst().joined())"
        }
        guard let found = try? old.resolving(text) else { throw .refused("no valid location") }
        let new = known?.url(for: found, at: now) ?? found
        if old.scheme == .https, new.scheme == .http, !settings.allowsDowngrade {
            throw .refused("a redirect to http")
        }
        let leaks =
            switch mutation {
            case .leaksToNetworkPaths: text.hasPrefix("//")
            case .leaksWithPOST: request.method == "POST"
            case .leaksOnSecondHop: hop > 1
            case .leaksInClear: old.scheme == .http && new.scheme == .http
            case .leaksFromAddresses: old.host.address != nil
            default: mutation?.rawValue == "leaksBehind\(status)"
            }
        let isSame = old.origin == new.origin || leaks
        let losesMethod =
            status == 303 && request.method != "HEAD"
            || [301, 302].contains(status) && request.method == "POST"
            || mutation == .losesMethod && status == 307
        if losesMethod {
            request.method = "GET"
            request.body = nil
            request.remove([
                "content-type", "content-length", "content-encoding", "content-language",
                "content-location", "transfer-encoding", "expect", "digest", "last-modified",
            ])
        } else if request.body != nil {
            if request.isStream { throw .refused("the content was sent already") }
            if !isSame, !settings.carriesBodyAcrossOrigins { throw .refused("the content is for its origin") }
        }
        if !isSame {
            let surviving = settings.surviving.map { $0.lowercased() }
            let safe = ["accept", "accept-encoding", "accept-language", "content-type", "user-agent"]
            request.fields.removeAll { !(safe + surviving).contains($0.name.latin1.lowercased()) }
        }
        request.remove(leaks ? ["referer", "host"] : ["referer", "cookie", "host"])
        let isSecret = old.scheme == .https && new.scheme == .http
        if settings.sendsReferer && (!isSecret || mutation == .refersFromSecret) {
            var text = old.withoutCredentials.withoutFragment.text
            if mutation == .refersWithUsers { text = old.text }
            request.set("Referer", to: text)
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
    func outcome(at url: HTTPURL) -> RequestOutcome {
        func pairs(_ fields: [MutantField]) -> [(name: String, value: String)] {
            fields.map { ($0.name.latin1, $0.value.latin1) }
        }
        var reported = ReportedResponse(status: status, fields: pairs(fields), body: content)
        reported.reason = reason.latin1
        reported.version = version.latin1
        reported.trailers = pairs(trailers)
        reported.interims = interims
        reported.url = url.text
        reported.use = use
        return RequestOutcome(.response(reported))
    }
}
