internal import DirectCore
internal import DirectHTTP
internal import FoundationEssentials

/// A vector with requests one after the other: of the topics `redirect`, `cookies`, `cache` and `hsts`.
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
    /// The settings of its client.
    private let client: JSON
    /// Whether it can be shown to a client with the usual settings.
    var isUsual: Bool {
        topic != .hsts && client.members.keys.allSatisfy { ["cookies", "hsts"].contains($0) }
    }

    /// The longest time that it may take, in seconds.
    var duration: Int { (steps.map(\.time).max() ?? 0) + steps.count }

    /// All vectors that can be shown beside other calls, by name.
    static let all: [String: SequenceVector] = {
        let vectors =
            ReplyVector.read("redirect").compactMap { SequenceVector(redirect: $0) }
            + ReplyVector.read("cookies").compactMap { SequenceVector(cookies: $0) }
            + ReplyVector.read("cache").compactMap { SequenceVector(cache: $0) }
            + ReplyVector.read("hsts").compactMap { SequenceVector(hsts: $0) }
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
    private init?(_ vector: JSON, _ topic: Topic, _ steps: [Step?]) {
        (name, self.topic, self.steps) = (vector.name.text ?? "", topic, steps.compactMap { $0 })
        client = vector.client
        keepsCookies = topic == .cookies || client.cookies.truth == true
        keepsHSTS = topic == .hsts || client.hsts.truth == true
        let ports = Dictionary(grouping: places, by: \.port).values
        let isPossible = places.allSatisfy {
            $0.host != "localhost" && IPAddress($0.host) == nil && !$0.host.hasPrefix("[")
        }
        guard self.steps.count == steps.count, isPossible,
            ports.allSatisfy({ Set($0.map(\.isSecure)).count == 1 })
        else { return nil }
    }

    // MARK: The formats of the topics

    /// Gives a client the settings of the vector.
    func set(_ settings: inout HTTPClient.Configuration) {
        settings.redirects.isFollowing = client.follows.truth ?? true
        settings.redirects.insecureAllowsDowngrade = client.downgrade.truth ?? false
        settings.redirects.carriesBodyAcrossOrigins = client.bodyAcrossOrigins.truth ?? true
        settings.redirects.sendsReferer = client.referer.truth ?? false
        settings.redirects.extraCrossOriginFields = client.surviving.texts
        settings.redirects.limit = client.limit.number ?? settings.redirects.limit
        for field in client.headers.fields { settings.headers[field.name] = field.value }
    }

    private init?(redirect vector: JSON) {
        let (asked, expect, answers) = (vector.request, vector.expect, vector.answers.list)
        guard let url = asked.url.text, asked.addresses == .null,
            answers.allSatisfy({ $0.location.text?.mayBeAField ?? true })
        else { return nil }
        var step = Step(method: asked.method.text ?? "GET", url: url, fields: asked.headers.fields)
        (step.body, step.isSentOnce) = (asked.body.text, asked.once.truth ?? false)
        step.arrivals = expect.requests.list.enumerated().compactMap { number, sent in
            guard var arrival = VectorPlace(sent.url.text ?? "").map({ Arrival(place: $0) }) else {
                return nil
            }
            (arrival.method, arrival.fields) = (sent.method.text ?? "GET", sent.headers.fields)
            arrival.body = sent.body == .null ? nil : asked.body.text
            guard answers.indices.contains(number) else { return arrival }
            arrival.status = answers[number].status.number ?? 200
            arrival.answer = [VectorField(name: "Location", value: answers[number].location.text)]
            arrival.answer += answers[number].headers.fields
            return arrival
        }
        // The target of CONNECT is no path.
        guard step.arrivals.count == expect.requests.list.count, step.method != "CONNECT" else { return nil }
        step.fault = expect.error.text
        if step.fault == nil {
            step.status = expect.status.number ?? 200
            step.finalURL = expect.url.text ?? expect.requests.list.last?.url.text
        }
        self.init(vector, .redirect, [step])
    }

    private init?(hsts vector: JSON) {
        guard vector.responses.list.flatMap(\.set.texts).allSatisfy(\.mayBeAField) else { return nil }
        let steps = (vector.responses.list + vector.expect.requests.list).map { request -> Step? in
            guard let url = request.url.text,
                var arrival = VectorPlace(request.reached.text ?? url).map({ Arrival(place: $0) })
            else { return nil }
            arrival.answer = request.set.texts.map {
                VectorField(name: "Strict-Transport-Security", value: $0)
            }
            return Step(url: url, arrivals: [arrival], status: 200)
        }
        self.init(vector, .hsts, steps)
    }

    /// Not for fields with a control character, whose response is refused as a whole.
    private init?(cookies vector: JSON) {
        guard vector.responses.list.flatMap(\.set.texts).allSatisfy(\.mayBeAField) else { return nil }
        let steps = (vector.responses.list + vector.expect.requests.list).map { request -> Step? in
            guard let url = request.url.text, var arrival = VectorPlace(url).map({ Arrival(place: $0) })
            else { return nil }
            arrival.answer = request.set.texts.map { VectorField(name: "Set-Cookie", value: $0) }
            let isAsked = request.set == .null
            if isAsked { arrival.fields = [VectorField(name: "Cookie", value: request.cookie.text)] }
            return Step(time: request.at.number ?? 0, url: url, arrivals: [arrival], status: 200)
        }
        self.init(vector, .cookies, steps)
    }

    /// Not if something else than the cache and its origin decides: settings, time limits, a further request.
    private init?(cache vector: JSON) {
        let others = [401, 407, 408, 421, 425, 429, 502, 503, 504]
        guard vector.staleWhenUnreachable == .null else { return nil }
        let steps = zip(vector.exchanges.list, vector.expect.answers.list).map { exchange, answer -> Step? in
            let (path, origin, use) = (exchange.url.text ?? "/", exchange.response, answer.use.text ?? "")
            let url = path.hasPrefix("http") ? path : "https://a.example" + path
            let (status, fields) = (origin.status.number ?? 200, origin.headers.fields)
            // The origin may be asked after the answer, too; and it may be out of reach.
            let isKept = ["hit", "stale"].contains(use)
            guard exchange.added == .null, exchange.upgrade == .null, origin.text == nil,
                origin.delay == .null,
                !others.contains(status), status != 304 || use != "miss",
                !isKept || answer.asked.truth != true,
                !fields.contains(where: { $0.name == "Location" && status / 100 == 3 }),
                var arrival = VectorPlace(url).map({ Arrival(place: $0) })
            else { return nil }
            arrival.method = exchange.method.text ?? "GET"
            (arrival.body, arrival.fields) = (exchange.content.text, answer.sent.fields)
            (arrival.status, arrival.answer, arrival.content) = (status, fields, origin.body.text ?? "")
            var step = Step(
                time: exchange.at.number ?? 0,
                method: arrival.method,
                url: url,
                body: arrival.body
            )
            step.fields = exchange.request.fields
            if answer.asked.truth ?? !isKept { step.arrivals = [arrival] }
            (step.status, step.content, step.cacheUse) = (answer.status.number, answer.body.text, use)
            step.responseFields = answer.headers.fields
            return step
        }
        self.init(vector, .cache, steps)
    }
}

/// A header field of a vector. Without a value it must be absent.
struct VectorField: Sendable {
    let name: String
    /// Its characters are bytes.
    let value: String?

    init(name: String, value: String?) { (self.name, self.value) = (name, value) }

    /// A number is the date that many seconds after the vector's beginning.
    init?(_ pair: JSON) {
        guard pair.list.count == 2, let name = pair.list[0].text else { return nil }
        let date = pair.list[1].number.map { UnixTime(seconds: SequenceVector.start + Int64($0)) }
        self.init(name: name, value: date.map(HTTPDate.text) ?? pair.list[1].text)
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
