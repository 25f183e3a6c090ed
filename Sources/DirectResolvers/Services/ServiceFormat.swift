internal import DirectHTTP
internal import DirectIO

/// How a service is asked, and how it answers.
protocol ServiceFormat: Sendable {
    /// What its answers are called.
    var name: String { get }

    /// The requests, to be sent at the same time, that ask for the addresses of a name.
    func questions(
        _ host: DomainName,
        _ families: ServiceSettings.Families,
        at time: UnixTime
    ) throws(ResolverError.Reason) -> [ServiceQuestion]

    /// What the response to one of them says.
    func answer(
        _ response: FullResponse,
        _ host: DomainName,
        _ question: ServiceQuestion
    ) throws(ResolverError.Reason) -> ServiceAnswer
}

/// One request to a service.
struct ServiceQuestion: Sendable {
    var method = DirectHTTP.Method.get
    var target: String
    var headers: Headers = [:]
    var body: [UInt8]?
    /// The type of record that is asked for, where a question is for one.
    var type: UInt16 = 0
}

/// What a service says to one question.
struct ServiceAnswer: Sendable {
    var addresses: [IPAddress] = []
    /// The shortest time of all of them, in seconds; nothing if the service does not say.
    var seconds: Int64?
    var canonicalName: DomainName?
    /// Whether the name does not exist at all.
    var isNoSuchName = false

    mutating func bound(_ limit: Int64) {
        seconds = min(seconds ?? limit, limit)
    }
}

extension ServiceSettings.Families {
    /// The types of records to ask for; IPv6 first, as RFC 8305 prefers it.
    var types: [UInt16] {
        switch self {
        case .both: [DNSType.aaaa, DNSType.a]
        case .v4: [DNSType.a]
        case .v6: [DNSType.aaaa]
        }
    }

    func contains(_ family: IPAddress.Family) -> Bool {
        switch self {
        case .both: true
        case .v4: family == .v4
        case .v6: family == .v6
        }
    }
}

extension String {
    /// The text for the value of a query: everything but RFC 3986's unreserved characters is escaped.
    var asQueryValue: String {
        var text: [UInt8] = []
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                text.append(byte)
            default:
                let digits = Array("0123456789ABCDEF".utf8)
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
