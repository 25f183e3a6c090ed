internal import DirectCore
internal import DirectHTTP
internal import FoundationEssentials

/// A vector with requests one after the other, and answers for those that arrive. Its form, and not its
/// topic, says how it is read: a new topic needs nothing here.
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
        /// Whether it fails for any reason, and the events of its content.
        var fails = false
        var events: [[String]] = []
    }

    /// A request that arrives at a server, and its answer.
    struct Arrival: Sendable {
        var place: VectorPlace
        var method = "GET"
        /// Its content. `nil` is any.
        var body: String? = ""
        var fields: [VectorField] = []
        /// The members of the digest that it has to have.
        var digest = JSON.null
        var answer = Answer()
    }

    /// What a server sends. Its characters are bytes.
    struct Answer: Sendable {
        var head = ""
        /// What follows the head, if the request is no HEAD.
        var content = ""
        /// Whether the connection ends with it, or leads to the target of the request then.
        var (closes, isTunnel) = (false, false)

        init(_ status: Int = 200, _ fields: [VectorField] = [], content: String = "") {
            head = "HTTP/1.1 \(status) Vector\r\n"
            for case (let name, let value?) in fields.map({ ($0.name, $0.value) }) {
                head += "\(name): \(value)\r\n"
            }
            let hasContent = status != 204 && status != 304
            if hasContent, !fields.contains(where: { $0.name.lowercased() == "content-length" }) {
                head += "Content-Length: \(content.unicodeScalars.count)\r\n"
            }
            head += "\r\n"
            if hasContent { self.content = content }
        }

        func bytes(isHead: Bool) -> [UInt8] { ReplyVector.latin(isHead ? head : head + content) }
    }

    /// The date at which vectors, and worlds, begin.
    static let start: Int64 = 1_800_000_000

    let name: String
    let topic: String
    let steps: [Step]
    /// What servers answer to requests without a field: by its name, for each server.
    private(set) var challenges: [String: (unless: String, answer: Answer)] = [:]
    /// Whether equal requests that follow each other count as one.
    private(set) var mayRepeat = false
    /// Whether its client has the settings of a job.
    private(set) var isJob = false
    /// What its client keeps from one request to the next: names of the contract's.
    private let keeps: Set<String>
    var keepsCookies: Bool { keeps.contains("cookies") }
    var keepsHSTS: Bool { keeps.contains("hsts") }
    var keepsCache: Bool { keeps.contains("cache") }
    /// The settings of its client.
    private let client: JSON
    /// Whether it can be shown to a client with the usual settings.
    var isUsual: Bool {
        !keepsHSTS && client.members.keys.allSatisfy { ["cookies", "hsts"].contains($0) }
    }

    /// The longest time that it may take, in seconds.
    var duration: Int { (steps.map(\.time).max() ?? 0) + steps.count }

    /// All vectors that can be shown beside other calls, by name.
    static let all: [String: SequenceVector] = {
        let topics = (try? FileManager.default.contentsOfDirectory(atPath: "Fixtures/vectors")) ?? []
        let vectors = topics.sorted().flatMap { topic in
            ReplyVector.read(topic).compactMap { SequenceVector($0, topic) }
        }
        return Dictionary(uniqueKeysWithValues: vectors.map { ($0.name, $0) })
    }()

    private init?(_ vector: JSON, _ topic: String) {
        switch vector.members {
        case let members where members["servers"] != nil: self.init(servers: vector, topic)
        case let members where members["exchanges"] != nil: self.init(cache: vector, topic)
        case let members where members["responses"] != nil: self.init(fields: vector, topic)
        case let members where members["answers"] != nil: self.init(redirect: vector, topic)
        default: return nil
        }
    }

    static let names = Dictionary(grouping: all.values, by: \.topic).mapValues { $0.map(\.name).sorted() }
    static let usualNames = names.mapValues { $0.filter { all[$0]?.isUsual == true } }.filter { !$1.isEmpty }
    /// The names of all their servers.
    static let hosts = Set(all.values.flatMap(\.hosts)).sorted()

    /// The names of its servers.
    var hosts: Set<String> { Set(places.map(\.host)) }

    /// Those that its client has addresses for: a proxy is given names.
    var dialledHosts: Set<String> { client.proxy == .null ? hosts : [] }

    /// Where its requests go, those too that must not be sent.
    var places: [VectorPlace] {
        steps.flatMap { step in
            step.arrivals.map { $0.place.isProxied ? .proxy : $0.place }
                + [VectorPlace(step.url)].compactMap { $0 }
        }
    }

    /// Whether it depends on a jar of cookies, or on none.
    var isAboutCookies: Bool {
        let arrivals = steps.flatMap(\.arrivals)
        let fields = steps.flatMap { $0.fields + $0.responseFields } + arrivals.flatMap(\.fields)
        return fields.contains { ["cookie", "set-cookie"].contains($0.name.lowercased()) }
            || arrivals.contains { $0.answer.head.lowercased().contains("\nset-cookie:") }
    }

    /// `nil` if the steps are not for servers with names, each port with TLS or without.
    private init?(_ vector: JSON, _ topic: String, _ steps: [Step?], keeps: [String]) {
        (name, self.topic, self.steps) = (vector.name.text ?? "", topic, steps.compactMap { $0 })
        client = vector.client == .null ? vector.settings : vector.client
        self.keeps = Set(keeps + ["cookies", "hsts"].filter { vector.client.members[$0]?.truth == true })
        let ports = Dictionary(grouping: places, by: \.port).values
        let isPossible = places.allSatisfy {
            $0.host != "localhost" && IPAddress($0.host) == nil && !$0.host.hasPrefix("[")
        }
        guard self.steps.count == steps.count, isPossible,
            ports.allSatisfy({ Set($0.map(\.isSecure)).count == 1 })
        else { return nil }
    }

    // MARK: The formats of the topics

    /// Gives a client the settings of the vector, and nothing that it may not keep.
    ///
    /// - Parameter address: Where its servers are.
    func set(_ settings: inout HTTPClient.Configuration, cache: ResponseCache?, at address: IPAddress) {
        settings.cookies = keepsCookies ? CookieJar() : nil
        settings.hsts = keepsHSTS ? HSTSStore() : nil
        settings.cache = keepsCache ? cache : nil
        settings.redirects.isFollowing = client.follows.truth ?? true
        settings.redirects.insecureAllowsDowngrade = client.downgrade.truth ?? false
        settings.redirects.carriesBodyAcrossOrigins = client.bodyAcrossOrigins.truth ?? true
        settings.redirects.sendsReferer = client.referer.truth ?? false
        settings.redirects.extraCrossOriginFields = client.surviving.texts
        settings.redirects.limit = client.limit.number ?? settings.redirects.limit
        for field in client.headers.fields { settings.headers[field.name] = field.value }
        if isJob { setAsJob(client, keeps: keeps, &settings, proxy: "\(address):\(VectorPlace.proxy.port)") }
    }

    private init?(redirect vector: JSON, _ topic: String) {
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
            arrival.body = sent.body == .null ? "" : asked.body.text
            guard answers.indices.contains(number) else { return arrival }
            let location = VectorField(name: "Location", value: answers[number].location.text)
            let (status, others) = (answers[number].status.number, answers[number].headers.fields)
            arrival.answer = Answer(status ?? 200, [location] + others)
            return arrival
        }
        // The target of CONNECT is no path.
        guard step.arrivals.count == expect.requests.list.count, step.method != "CONNECT" else { return nil }
        step.fault = expect.error.text
        if step.fault == nil {
            step.status = expect.status.number ?? 200
            step.finalURL = expect.url.text ?? expect.requests.list.last?.url.text
        }
        self.init(vector, topic, [step], keeps: [])
    }

    /// What fields of responses change in later requests: cookies, and policies. Not for fields with a
    /// control character, whose response is refused as a whole.
    private init?(fields vector: JSON, _ topic: String) {
        guard vector.responses.list.flatMap(\.set.texts).allSatisfy(\.mayBeAField) else { return nil }
        let name = topic == "hsts" ? "Strict-Transport-Security" : "Set-Cookie"
        let steps = (vector.responses.list + vector.expect.requests.list).map { request -> Step? in
            guard let url = request.url.text,
                var arrival = VectorPlace(request.reached.text ?? url).map({ Arrival(place: $0) })
            else { return nil }
            arrival.answer = Answer(200, request.set.texts.map { VectorField(name: name, value: $0) })
            let cookie = request.members["cookie"].map { VectorField(name: "Cookie", value: $0.text) }
            arrival.fields = [cookie].compactMap { $0 }
            return Step(time: request.at.number ?? 0, url: url, arrivals: [arrival], status: 200)
        }
        self.init(vector, topic, steps, keeps: [topic])
    }

    /// Not if something else than the cache and its origin decides: settings, time limits, a further request.
    private init?(cache vector: JSON, _ topic: String) {
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
            (arrival.body, arrival.fields) = (exchange.content.text ?? "", answer.sent.fields)
            arrival.answer = Answer(status, fields, content: origin.body.text ?? "")
            var step = Step(
                time: exchange.at.number ?? 0,
                method: arrival.method,
                url: url,
                body: exchange.content.text
            )
            step.fields = exchange.request.fields
            if answer.asked.truth ?? !isKept { step.arrivals = [arrival] }
            (step.status, step.content, step.cacheUse) = (answer.status.number, answer.body.text, use)
            step.responseFields = answer.headers.fields
            return step
        }
        self.init(vector, topic, steps, keeps: [topic])
    }

    /// Not if its servers do more than answer what has arrived, if something else is judged than requests and
    /// results, or if it is not told which of several requests led to what arrives. A name without a server
    /// may have one in a world.
    private init?(servers vector: JSON, _ topic: String) {
        let expect = vector.expect.list.first ?? vector.expect
        let (asked, sent) = (vector.requests.list, expect.requests.list)
        var servers: [String: ScriptedServer] = [:]
        for server in vector.servers.list { servers[server.name.text ?? ""] = ScriptedServer(server) }
        let arrivals = sent.compactMap { servers[$0.at.text ?? ""]?.arrival($0) }
        let names = Set(servers.values.flatMap(\.hosts))
        guard servers.count == vector.servers.list.count, arrivals.count == sent.count,
            names.isSuperset(of: servers.values.flatMap(\.targets)),
            // This package's client refuses what others may send.
            expect.fails || !vector.expect.list.contains(where: \.fails),
            asked.count == 1 || asked.count == sent.count, expect.exact == .null, expect.notified == .null,
            vector.settings.credentials == .null || vector.settings.credentials.schemes.list.count == 1
        else { return nil }
        let steps = asked.enumerated().map { number, request -> Step? in
            let result = expect.results.list.indices.contains(number) ? expect.results.list[number] : .null
            guard let url = request.url.text, let place = VectorPlace(url), names.contains(place.host)
            else { return nil }
            var step = Step(method: request.method.text ?? "GET", url: url, fields: request.headers.fields)
            (step.body, step.isSentOnce) = (request.body.text, request.stream.truth == true)
            step.arrivals = asked.count == 1 ? arrivals : [arrivals[number]]
            (step.status, step.content) = (result.status.number, result.body.text)
            (step.fails, step.events) = (result.error.truth == true, result.events.list.map(\.texts))
            return step
        }
        self.init(vector, topic, steps, keeps: vector.keep.texts)
        (isJob, mayRepeat) = (true, expect.repeated.truth == true)
        for server in servers.values { challenges.merge(server.challenges) { $1 } }
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
    /// Whether the request is for a proxy, which is at a place of its own.
    var isProxied = false

    static let proxy = VectorPlace(isSecure: false, host: "proxy-of-vectors.test", port: 3128, target: "/")
    /// What stands for the server.
    var server: String { isProxied ? "proxy" : "\(host):\(port)" }

    private init(isSecure: Bool, host: String, port: Int, target: String) {
        (self.isSecure, self.host, self.port, self.target) = (isSecure, host, port, target)
    }

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

extension JSON {
    /// Whether it expects an error.
    fileprivate var fails: Bool { self.results.list.contains { $0.error.truth == true } }
}

extension String {
    /// Whether it has no control character but tabs.
    fileprivate var mayBeAField: Bool {
        unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F || $0 == "\t" }
    }
}
