/// Worlds with peers and callers that say what they must not.
extension Plan {
    /// Servers that stop do so in a line, too: that of the status, of a field, of a chunk.
    mutating func stopInLines() {
        var dice = Dice(seed: seed ^ 0x57095)
        for call in calls.indices where calls[call].download == nil && calls[call].kind != .events {
            for place in calls[call].replies.indices
            where calls[call].replies[place].ending == .stalls && dice.chance(70) {
                let stop = dice.one(of: ReplyPlan.Stop.allCases)
                (calls[call].replies[place].word, calls[call].replies[place].stop) = (nil, stop)
                if !stop.isInHead { calls[call].replies[place].framing = .chunked }
            }
        }
    }

    /// Servers set more cookies than a jar keeps of a site.
    mutating func fillJar(_ dice: inout Dice) {
        guard keeping == nil, !hosts.contains(where: { $0.strictness != nil }) else { return }
        client.keepsCookies = true
        for call in calls.indices where calls[call].download == nil {
            for place in calls[call].replies.indices where dice.chance(70) {
                calls[call].replies[place].word = .manyCookies
            }
        }
    }

    /// The most cookies of a site that its jars keep, and of all sites.
    static let (cookiesOfSite, cookiesOfAll) = (60, 100)
    var fillsJars: Bool { calls.contains { $0.replies.contains { $0.word == .manyCookies } } }

    /// Callers put line breaks where a request would have them as its own.
    mutating func inject(_ dice: inout Dice) {
        // An interceptor that takes a request apart throws errors of its own.
        guard !client.rebuildsRequests, !client.addsUserBelowCache else { return }
        for call in calls.indices where calls[call].kind != .prewarm && dice.chance(30) {
            guard calls[call].download == nil, calls[call].kind != .events, calls[call].isVictim != true
            else { continue }
            calls[call].injection = dice.one(of: CallPlan.Injection.allCases)
            (calls[call].resource, calls[call].isPlain) = (nil, nil)
        }
    }
}

extension ReplyPlan.Stop {
    /// The beginning of the line, behind some of the body.
    var beginning: String? {
        switch self {
        case .status, .field: nil
        case .chunkSize: "5"
        case .chunkExtension: "5;x=\"y"
        case .trailer: "0\r\nX-La"
        }
    }
}

extension CallPlan.Injection {
    /// What must not arrive as a line.
    static let line = "\r\nX-Injected: 1"

    func url(_ url: String) -> String {
        let place = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        let host = url[place...].prefix { $0 != "/" }
        func changed(_ authority: String) -> String { url[..<place] + authority + url[host.endIndex...] }
        return switch self {
        case .path: url + Self.line
        case .query: url + "?a=b" + Self.line
        case .lineFeed: url + "\nX-Injected: 1"
        case .spaces: url + " HTTP/1.1\nX-Injected: 1\nX: "
        case .zero: url + "\0" + Self.line
        case .host: changed(host + Self.line)
        case .port: changed(host.prefix { $0 != ":" } + ":80" + Self.line)
        case .user: changed("me" + Self.line + ":x@" + host)
        case .method, .fieldName, .fieldValue: url
        }
    }
}
