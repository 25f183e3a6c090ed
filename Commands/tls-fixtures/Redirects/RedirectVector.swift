internal import DirectHTTP
internal import DirectJSON

/// A test of redirects: a request, the answers to it and to the redirected requests, and the requests that
/// must be sent.
struct RedirectVector: TopicVector {
    /// The caller's request.
    struct Question: Decodable, Sendable {
        @Or<Get> var method: String
        var url: String
        @Pairs var fields: [(name: String, value: String)]
        var body: String?
        /// Whether the body is a stream that can be sent only once.
        @Or<False> var isSentOnce: Bool
        /// The addresses to connect to for the host of the URL.
        var addresses: [String]?

        private enum CodingKeys: String, CodingKey {
            case method, url, fields = "headers", body, isSentOnce = "once", addresses
        }
    }

    /// The client's settings, with its defaults.
    struct Settings: MayBeAbsent, Sendable {
        @Or<True> var follows: Bool
        var limit: Int?
        @Or<False> var allowsDowngrade: Bool
        @Or<True> var carriesBodyAcrossOrigins: Bool
        @Or<False> var sendsReferer: Bool
        @OrEmpty var surviving: [String]
        /// Header fields that the client sends with every request.
        @Pairs var fields: [(name: String, value: String)]
        /// Whether the client stores cookies.
        @Or<False> var keepsCookies: Bool
        /// Whether the client stores HSTS policies.
        @Or<False> var keepsHSTS: Bool

        init() {}

        private enum CodingKeys: String, CodingKey {
            case follows, limit, allowsDowngrade = "downgrade", carriesBodyAcrossOrigins = "bodyAcrossOrigins"
            case sendsReferer = "referer", surviving, fields = "headers", keepsCookies = "cookies",
                keepsHSTS = "hsts"
        }
    }

    /// A response of the simulated network.
    struct Answer: Decodable, Sendable {
        var status: Int
        private var location: [UInt8]?
        @Pairs private var headers: [(name: String, value: [UInt8])]

        var fields: [(name: String, value: [UInt8])] {
            (location.map { [(name: "Location", value: $0)] } ?? []) + headers
        }
    }

    /// A request that the network must see.
    struct Sent: Decodable, Sendable {
        @Or<Get> var method: String
        var url: String
        /// Header fields with their required values. `nil` means that the field must be absent.
        @Pairs var fields: [(name: String, value: String?)]
        var body: String?
        /// The addresses that the request must carry, with a null value if it must carry none. `nil` if they
        /// are not compared.
        var addresses: [String]??

        private enum CodingKeys: String, CodingKey { case method, url, fields = "headers", body, addresses }
    }

    /// The outcome for the caller.
    enum Ending: Equatable, Sendable {
        /// A response with this status, from this URL.
        case answered(Int, String)
        case fault(String)
    }

    var head: VectorHead
    let question: Question
    let settings: Settings
    /// The answers in turn. After the last one, every request is answered with an empty 200.
    let answers: [Answer]
    var sent: [Sent] { expect.requests }
    var ending: Ending {
        if let error = expect.error { return .fault(error.rawValue) }
        return .answered(expect.status ?? 200, expect.url ?? sent.last?.url ?? "")
    }
    private let expect: Expectation

    private enum CodingKeys: String, CodingKey {
        case head, question = "request", settings = "client", answers, expect
    }

    private struct Expectation: Checked, Sendable {
        let requests: [Sent]
        let error: Fault?
        let url: String?
        let status: Int?

        var fault: String? {
            if requests.isEmpty { return "at least one request is expected" }
            return error != nil && (url != nil || status != nil)
                ? "either an error or a response is expected" : nil
        }
    }

    /// The reasons for not following a redirect.
    enum Fault: String, Choice {
        case tooMany, loop, severalLocations, badLocation, downgrade, bodySentOnce, bodyAcrossOrigins
    }
}
