internal import DirectJSON

/// The work for a client in one vector: requests, and what the client has to know to make them.
///
/// `Fixtures/clients/README.md` describes its JSON form.
struct Job: Sendable {
    /// The folder of the vector.
    var topic: String
    /// The name of the vector, for messages.
    var vector: String
    /// The path of a PEM file with the only roots to trust.
    var roots: String
    /// Where to connect for each host and port.
    var routes: [Route] = []
    var settings = Settings()
    /// What is kept from one request to the next.
    var kept: Set<Kept> = []
    /// The time of day at the first request, in seconds since 1970. `nil` is the real time.
    var time: Int64?
    var requests: [Request]

    /// The time limit of one request in milliseconds.
    var timeout = 4000
    /// How many times as long as usual everything may take: the limit of a request, and those of the runner.
    var patience = 1
    /// The addresses whose servers say nothing, if time can be held, and whether they accept connections.
    /// Only the client in this process is told: it holds its clock, and lets time pass only while it waits
    /// for one of them.
    var quiet: [String: Bool]?

    /// The addresses for one host and port.
    struct Route: Equatable, Sendable {
        /// The host as in a URL, without brackets.
        var host: String
        var port: UInt16
        /// The addresses as texts, each with a port.
        var addresses: [String]

        /// The host and port as in a URL.
        var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    }

    /// What a client can keep from one request to the next.
    enum Kept: String, Choice {
        case connections, sessions, cookies, hsts, cache
    }

    struct Request: Decodable, Sendable {
        var url: String
        @Or<Get> var method: String
        @Pairs var fields: [(name: [UInt8], value: [UInt8])]
        var body: [UInt8]?
        /// Whether the body can be read only once.
        @Or<False> var isStream: Bool
        /// The time of the request, in seconds after that of the first.
        @Or<Zero> var time: Int64
        /// The protocols that it offers to switch to.
        @OrEmpty var upgrade: [String]

        init(url: String) { self.url = url }

        private enum CodingKeys: String, CodingKey {
            case url, method, fields = "headers", body, isStream = "stream", time = "after", upgrade
        }
    }

    /// The client's settings. What is absent is left to the client.
    struct Settings: MayBeAbsent, Sendable {
        @Or<False> var follows: Bool
        var redirects = RedirectSettings()
        /// Fields that the client sends with every request.
        @Pairs var fields: [(name: [UInt8], value: [UInt8])]
        /// Whether the client asks for content codings and removes them.
        @Or<False> var decodes: Bool
        /// Whether the content is read as server-sent events, which are then the result.
        @Or<False> var readsEvents: Bool
        var versions: ClosedRange<ProtocolVersion>?
        /// The faults of a server's certificate that the client accepts, and no others.
        @OrEmpty var accepts: [Ending]
        /// The path of a PEM file with the client's certificate and key.
        var certificate: String?
        @Or<True> var resumes: Bool
        /// A list of configurations for Encrypted Client Hello in Base64, without which the name is not sent.
        var ech: String?
        /// Whether the addresses belong to the client's own map instead of the request.
        @IsMap var usesMap: Bool
        /// The addresses of the request as texts, which need not be addresses. They come before those of the
        /// only route.
        var addressTexts: [String]?
        /// The addresses of the only route, spelled as in the vector. Only the client in this process is
        /// told.
        var spelling: [String]?
        @JobDialling var dialling: RouteVector.Dialling?
        /// The settings of the parser and the decoder, in the form of the vectors.
        var leniency: JSONValue?
        var limits: JSONValue?
        var decoding: JSONValue?
        /// The time for which a cache may use stale responses if the origin cannot be reached, in seconds.
        var stale: Int64?
        /// The proxy for all requests.
        var proxy: ProxyChoice?
        /// User name and password for the origin of the first request.
        var credentials: Credentials?

        init() {}

        private enum CodingKeys: String, CodingKey {
            case follows = "follow", redirects, fields = "headers", decodes = "decode", readsEvents =
                "events", versions,
                accepts = "accept", certificate
            case resumes = "resume", ech, usesMap = "addresses", addressTexts, dialling, leniency, limits,
                decoding, stale, proxy, credentials
        }
    }

    /// A proxy that the client is told to use.
    struct ProxyChoice: Decodable, Sendable {
        /// Its address with the port. In a vector it is the name of a server.
        var place: String
        var user: String?
        var password: String?
        /// Whether the client is told to answer its challenges by Digest.
        @Or<False> var isAnsweredByDigest: Bool
        /// Whether the proxy is given the addresses of the job instead of names.
        @Or<False> var isGivenAddresses: Bool

        private enum CodingKeys: String, CodingKey {
            case place = "at", user, password, isAnsweredByDigest = "digest", isGivenAddresses = "addresses"
        }
    }

    /// What a client is told for the origin of its first request.
    struct Credentials: Decodable, Sendable {
        var user: String
        var password: String
        /// The schemes to use: `basic`, `digest`. Empty: the client chooses.
        @OrEmpty var schemes: [String]
    }

    /// The settings of redirects. What is `nil` or `false` is left to the client.
    struct RedirectSettings: MayBeAbsent, Equatable, Sendable {
        var limit: Int?
        @Or<False> var allowsDowngrade: Bool
        @Or<True> var carriesBodyAcrossOrigins: Bool
        @Or<False> var sendsReferer: Bool
        /// The names of fields that may be sent to other origins.
        @OrEmpty var surviving: [String]

        init() {}

        private enum CodingKeys: String, CodingKey {
            case limit, allowsDowngrade = "downgrade", carriesBodyAcrossOrigins = "bodyAcrossOrigins"
            case sendsReferer = "referer", surviving
        }
    }
}

/// What a client program says of itself.
struct ClientDescription: Equatable, Sendable {
    var name: String
    var version: String
    /// The content codings that it decodes.
    var codings: [String]
    /// Whether it reports the reason of every failure in the vectors' words. If not, only success and failure
    /// are compared.
    var givesReasons = false

    /// The version of the contract that this program speaks.
    static let contract = 1
}
