internal import DirectCore
internal import DirectHTTP
internal import FoundationEssentials

/// A vector of Fixtures/vectors that takes requests one after the other: of the topics `redirect`, `cookies`
/// and `cache`.
struct SequenceVector: Sendable {
    /// A request of the caller, and what has to come of it. What is `nil` is not compared.
    struct Step: Sendable {
        /// When it begins, in seconds after the vector did.
        var time = 0
        var method = "GET"
        var url = ""
        var fields: [VectorField] = []
        var body: String?
        var isSentOnce = false
        /// The requests that arrive at servers, with their answers.
        var arrivals: [Arrival] = []
        var status: Int?
        var content, finalURL, cacheUse: String?
        var responseFields: [VectorField] = []
        /// The reason for which a redirect is not followed.
        var fault: String?
    }

    /// A request that arrives at a server, and its answer.
    struct Arrival: Sendable {
        var place: VectorPlace
        var method = "GET"
        var body: String?
        var fields: [VectorField] = []
        var status = 200
        var answer: [VectorField] = []
        var content = ""
    }

    enum Topic: String, CaseIterable { case redirect, cookies, cache, hsts }

    /// The date at which vectors, and worlds, begin.
    static let start: Int64 = 1_800_000_000

    let name: String
    let topic: Topic
    let steps: [Step]
    let keepsCookies, keepsHSTS: Bool
    /// What else a client has to be told.
    private(set) var settings = Settings()
    /// Whether it can be shown to a client with the usual settings.
    var isUsual: Bool { !settings.areSpecial && topic != .hsts }

    /// The longest time that it may take, in seconds.
    var duration: Int { (steps.map(\.time).max() ?? 0) + steps.count }

    /// All vectors that can be shown beside other calls, by name.
    static let all: [String: SequenceVector] = {
        let vectors =
            ReplyVector.read("redirect", as: Redirect.self).compactMap(SequenceVector.init)
            + ReplyVector.read("cookies", as: Cookies.self).compactMap(SequenceVector.init)
            + ReplyVector.read("cache", as: Cache.self).compactMap(SequenceVector.init)
            + ReplyVector.read("hsts", as: HSTS.self).compactMap(SequenceVector.init)
        return Dictionary(uniqueKeysWithValues: vectors.map { ($0.name, $0) })
    }()
    static let names = Dictionary(grouping: all.values, by: \.topic).mapValues { $0.map(\.name).sorted() }
    static let usualNames = names.mapValues { $0.filter { all[$0]?.isUsual == true } }.filter { !$1.isEmpty }
    /// The names of all their servers.
    static let hosts = Set(all.values.flatMap(\.hosts)).sorted()

    /// The names of its servers.
    var hosts: Set<String> { Set(places.map(\.host)) }

    /// Where its requests go, those too that must not be sent.
    var places: [VectorPlace] {
        steps.flatMap { step in step.arrivals.map(\.place) + [VectorPlace(step.url)].compactMap { $0 } }
    }

    /// Whether it depends on a jar of cookies, or on none.
    var isAboutCookies: Bool {
        let fields = steps.flatMap { step in
            step.fields + step.responseFields + step.arrivals.flatMap { $0.fields + $0.answer }
        }
        return fields.contains { ["cookie", "set-cookie"].contains($0.name.lowercased()) }
    }

    /// `nil` if the steps are not for servers with names, each port with TLS or without.
    private init?(_ name: String, _ topic: Topic, _ steps: [Step?], settings: Settings = Settings()) {
        (self.name, self.topic, self.steps) = (name, topic, steps.compactMap { $0 })
        keepsCookies = topic == .cookies || settings.cookies == true
        keepsHSTS = topic == .hsts || settings.hsts == true
        self.settings = settings
        let ports = Dictionary(grouping: places, by: \.port).values
        let isPossible = places.allSatisfy {
            $0.host != "localhost" && IPAddress($0.host) == nil && !$0.host.hasPrefix("[")
        }
        guard self.steps.count == steps.count, isPossible,
            ports.allSatisfy({ Set($0.map(\.isSecure)).count == 1 })
        else { return nil }
    }

    // MARK: The formats of the topics

    private struct Anything: Decodable {
        init(from decoder: any Decoder) {}
    }

    private struct Redirect: Decodable {
        struct Request: Decodable {
            let url: String
            let method, body: String?
            let headers: [VectorField]?
            let once: Bool?
            let addresses: Anything?
        }

        struct Answer: Decodable {
            let status: Int
            let location: String?
            let headers: [VectorField]?
        }

        struct Expectation: Decodable {
            let requests: [Request]
            let url, error: String?
            let status: Int?
        }

        let name: String
        let request: Request
        let client: Settings?
        let answers: [Answer]
        let expect: Expectation
    }

    /// The settings of the client of a redirect.
    struct Settings: Decodable {
        private(set) var cookies, hsts, referer, downgrade, bodyAcrossOrigins, follows: Bool?
        private(set) var limit: Int?
        private(set) var surviving: [String]?
        private(set) var headers: [VectorField]?

        var areSpecial: Bool {
            referer != nil || downgrade != nil || bodyAcrossOrigins != nil || follows != nil || limit != nil
                || surviving != nil || headers != nil
        }

        /// Gives a client these settings.
        func set(_ settings: inout HTTPClient.Configuration) {
            settings.redirects.isFollowing = follows ?? true
            settings.redirects.insecureAllowsDowngrade = downgrade ?? false
            settings.redirects.carriesBodyAcrossOrigins = bodyAcrossOrigins ?? true
            settings.redirects.sendsReferer = referer ?? false
            settings.redirects.extraCrossOriginFields = surviving ?? []
            settings.redirects.limit = limit ?? settings.redirects.limit
            for field in headers ?? [] { settings.headers[field.name] = field.value }
        }
    }

    private struct HSTS: Decodable {
        struct Response: Decodable {
            let url: String
            let set: [String]
        }

        struct Request: Decodable { let url, reached: String }
        struct Expectation: Decodable { let requests: [Request] }

        let name: String
        let responses: [Response]
        let expect: Expectation
    }

    private struct Cookies: Decodable {
        struct Request: Decodable {
            let url: String
            let set: [String]?
            let cookie: String?
            let at: Int?
        }

        struct Expectation: Decodable { let requests: [Request] }

        let name: String
        let responses: [Request]
        let expect: Expectation
    }

    private struct Cache: Decodable {
        struct Exchange: Decodable {
            let at: Int?
            let method, url, content: String?
            let request: [VectorField]?
            let upgrade, added: Anything?
            let response: Origin
        }

        /// What the origin answers; without a status if it cannot be reached.
        struct Origin: Decodable {
            var status: Int?
            var headers: [VectorField] = []
            var body = ""
            var isLate = false

            enum Members: CodingKey { case status, headers, body, delay }

            init(from decoder: any Decoder) throws {
                guard let members = try? decoder.container(keyedBy: Members.self) else { return }
                status = try members.decodeIfPresent(Int.self, forKey: .status) ?? 200
                headers = try members.decodeIfPresent([VectorField].self, forKey: .headers) ?? []
                body = try members.decodeIfPresent(String.self, forKey: .body) ?? ""
                isLate = members.contains(.delay)
            }
        }

        struct Answer: Decodable {
            let use: String
            let status: Int?
            let body: String?
            let headers, sent: [VectorField]?
            let asked: Bool?

            /// Whether the origin is asked; `nil` if it is asked after the answer.
            var isAsked: Bool? {
                let isKept = ["hit", "stale"].contains(use)
                return isKept && asked == true ? nil : asked ?? !isKept
            }
        }

        struct Expectation: Decodable { let answers: [Answer] }

        let name: String
        let exchanges: [Exchange]
        let staleWhenUnreachable: Anything?
        let expect: Expectation
    }

    private init?(_ vector: Redirect) {
        let (asked, expect) = (vector.request, vector.expect)
        guard asked.addresses == nil, vector.answers.allSatisfy({ $0.location?.mayBeAField ?? true })
        else { return nil }
        let settings = vector.client ?? Settings()
        var step = Step(
            method: asked.method ?? "GET",
            url: asked.url,
            fields: asked.headers ?? [],
            body: asked.body
        )
        step.isSentOnce = asked.once ?? false
        step.arrivals = expect.requests.enumerated().compactMap { number, sent in
            guard var arrival = VectorPlace(sent.url).map({ Arrival(place: $0) }) else { return nil }
            (arrival.method, arrival.fields) = (sent.method ?? "GET", sent.headers ?? [])
            arrival.body = sent.body == nil ? nil : asked.body
            guard vector.answers.indices.contains(number) else { return arrival }
            let answer = vector.answers[number]
            arrival.status = answer.status
            arrival.answer = [VectorField(name: "Location", value: answer.location)] + (answer.headers ?? [])
            return arrival
        }
        // The target of CONNECT is no path.
        guard step.arrivals.count == expect.requests.count, step.method != "CONNECT" else { return nil }
        step.fault = expect.error
        if expect.error == nil {
            (step.status, step.finalURL) = (expect.status ?? 200, expect.url ?? expect.requests.last?.url)
        }
        self.init(vector.name, .redirect, [step], settings: settings)
    }

    private init?(_ vector: HSTS) {
        guard vector.responses.flatMap(\.set).allSatisfy(\.mayBeAField) else { return nil }
        let first = vector.responses.map { response -> Step? in
            guard var arrival = VectorPlace(response.url).map({ Arrival(place: $0) }) else { return nil }
            arrival.answer = response.set.map { VectorField(name: "Strict-Transport-Security", value: $0) }
            return Step(url: response.url, arrivals: [arrival], status: 200)
        }
        let then = vector.expect.requests.map { request in
            VectorPlace(request.reached).map {
                Step(url: request.url, arrivals: [Arrival(place: $0)], status: 200)
            }
        }
        self.init(vector.name, .hsts, first + then)
    }

    /// Not for fields with a control character, whose response is refused as a whole.
    private init?(_ vector: Cookies) {
        guard vector.responses.flatMap({ $0.set ?? [] }).allSatisfy(\.mayBeAField) else { return nil }
        let steps = (vector.responses + vector.expect.requests).map { request -> Step? in
            guard let place = VectorPlace(request.url) else { return nil }
            var arrival = Arrival(place: place)
            arrival.answer = (request.set ?? []).map { VectorField(name: "Set-Cookie", value: $0) }
            if request.set == nil { arrival.fields = [VectorField(name: "Cookie", value: request.cookie)] }
            return Step(time: request.at ?? 0, url: request.url, arrivals: [arrival], status: 200)
        }
        self.init(vector.name, .cookies, steps)
    }

    /// Not if something else than the cache and its origin decides: settings, time limits, a further request.
    private init?(_ vector: Cache) {
        let others = [401, 407, 408, 421, 425, 429, 502, 503, 504]
        guard vector.staleWhenUnreachable == nil else { return nil }
        let steps = zip(vector.exchanges, vector.expect.answers).map { exchange, answer -> Step? in
            let path = exchange.url ?? "/"
            let url = path.hasPrefix("http") ? path : "https://a.example" + path
            guard exchange.added == nil, exchange.upgrade == nil, let status = exchange.response.status,
                !others.contains(status), !exchange.response.isLate, status != 304 || answer.use != "miss",
                let isAsked = answer.isAsked,
                !exchange.response.headers.contains(where: { $0.name == "Location" && status / 100 == 3 }),
                var arrival = VectorPlace(url).map({ Arrival(place: $0) })
            else { return nil }
            arrival.method = exchange.method ?? "GET"
            (arrival.body, arrival.fields) = (exchange.content, answer.sent ?? [])
            (arrival.status, arrival.answer) = (status, exchange.response.headers)
            arrival.content = exchange.response.body
            var step = Step(time: exchange.at ?? 0, method: arrival.method, url: url, body: exchange.content)
            step.fields = exchange.request ?? []
            if isAsked { step.arrivals = [arrival] }
            (step.status, step.content, step.cacheUse) = (answer.status, answer.body, answer.use)
            step.responseFields = answer.headers ?? []
            return step
        }
        self.init(vector.name, .cache, steps)
    }
}

/// A header field of a vector. Without a value it must be absent.
struct VectorField: Decodable, Sendable {
    let name: String
    /// Its characters are bytes.
    let value: String?

    init(name: String, value: String?) { (self.name, self.value) = (name, value) }

    /// A number is the date that many seconds after the vector's beginning.
    init(from decoder: any Decoder) throws {
        var pair = try decoder.unkeyedContainer()
        name = try pair.decode(String.self)
        if let seconds = try? pair.decode(Int64.self) {
            value = HTTPDate.text(UnixTime(seconds: SequenceVector.start + seconds))
        } else {
            value = try pair.decodeIfPresent(String.self)
        }
    }
}

/// Where a URL of a vector leads, and what a server sees of it.
struct VectorPlace: Hashable, Sendable {
    let isSecure: Bool
    let host: String
    let port: Int
    let target: String

    /// Reads an absolute URL; `nil` for anything else.
    init?(_ url: String) {
        guard let colon = url.firstRange(of: "://") else { return nil }
        isSecure = url[..<colon.lowerBound] == "https"
        let rest = url[colon.upperBound...].prefix { $0 != "#" }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let target = String(rest[authority.endIndex...])
        self.target = target.hasPrefix("/") ? target : "/" + target
        let named = authority.split(separator: "@").last ?? ""
        let parts = named.split(separator: ":", maxSplits: 1)
        host = VectorPlace.plain(String(named.hasPrefix("[") ? named : parts.first ?? ""))
        port = (parts.count > 1 ? Int(parts[1]) : nil) ?? (isSecure ? 443 : 80)
    }

    /// A name without its trailing dot, in lower case.
    static func plain(_ name: String) -> String {
        (name.hasSuffix(".") ? String(name.dropLast()) : name).lowercased()
    }
}

extension String {
    /// Whether it has no control character but tabs.
    fileprivate var mayBeAField: Bool {
        unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F || $0 == "\t" }
    }
}
