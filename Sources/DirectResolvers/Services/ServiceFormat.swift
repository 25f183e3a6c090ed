internal import DirectCore
internal import DirectHTTP
internal import DirectIO

/// The request and response format of a service.
protocol ServiceFormat: Sendable {
    /// The name of the service in errors and transactions.
    var name: String { get }
    /// Whether its requests are signed with the time.
    var isSigned: Bool { get }

    /// Returns the requests for the addresses of a name. They are sent at the same time.
    func questions(
        _ host: DomainName,
        families: ServiceSettings.Families,
        at time: UnixTime
    ) throws(ResolverError.Reason) -> [ServiceQuestion]

    /// Parses the response to one of the requests.
    func answer(
        _ response: BufferedResponse,
        host: DomainName,
        question: ServiceQuestion
    ) throws(ResolverError.Reason) -> ServiceAnswer
}

extension ServiceFormat {
    var isSigned: Bool { false }
}

/// The format of a service that is asked for one type of records at a time.
protocol RecordFormat: ServiceFormat {
    /// Returns the request for the records of a type.
    func question(
        _ host: DomainName,
        type: UInt16,
        at time: UnixTime
    ) throws(ResolverError.Reason) -> ServiceQuestion
}

extension RecordFormat {
    func questions(
        _ host: DomainName,
        families: ServiceSettings.Families,
        at time: UnixTime
    ) throws(ResolverError.Reason) -> [ServiceQuestion] {
        var questions: [ServiceQuestion] = []
        for type in families.types { questions.append(try question(host, type: type, at: time)) }
        return questions
    }
}

/// The format of a service that is not asked over HTTP.
protocol SocketFormat: ServiceFormat {
    /// Asks one server.
    ///
    /// - Throws: A `ResolverError.Reason`, or a `CancellationError`.
    func answer(
        _ question: ServiceQuestion,
        for host: DomainName,
        from server: Endpoint,
        limit: @escaping @Sendable () -> Duration,
        within context: ResolveContext
    ) async throws -> ServiceAnswer
}

extension SocketFormat {
    /// There are no responses to parse.
    func answer(
        _ response: BufferedResponse,
        host: DomainName,
        question: ServiceQuestion
    ) throws(ResolverError.Reason) -> ServiceAnswer {
        throw .refused("this service is not asked over HTTP")
    }
}

/// The format of a service that can be asked for several names at a time.
protocol BatchFormat: ServiceFormat {
    /// The highest number of names in a request.
    var mostNames: Int { get }

    /// Returns the request for the addresses of several names.
    func question(
        _ hosts: [DomainName],
        families: ServiceSettings.Families,
        at time: UnixTime
    ) throws(ResolverError.Reason) -> ServiceQuestion

    /// Parses the response. A name that it does not have has no answer, and a malformed answer to one name is
    /// none of the others'.
    func answers(_ response: BufferedResponse) throws(ResolverError.Reason) -> BatchAnswers
}

typealias BatchAnswers = [DomainName: Result<ServiceAnswer, ResolverError.Reason>]

/// The format of a service that says which of its servers to ask.
protocol ScheduledFormat: ServiceFormat {
    /// The target of the request for the servers.
    var scheduleTarget: String { get }

    /// Parses the response: the addresses of the servers, the preferred one first.
    func scheduledServers(_ response: BufferedResponse) throws(ResolverError.Reason) -> [IPAddress]
}

/// One request to a service.
struct ServiceQuestion: Sendable {
    var method = HTTPMethod.get
    var target: String
    var headers: HTTPHeaders = [:]
    var body: [UInt8]?
    /// The record type that is queried, or 0 in formats without record types.
    var type: UInt16 = 0
}

/// The parsed response to one request.
struct ServiceAnswer: Sendable {
    var addresses: [IPAddress] = []
    /// The shortest time to live of all addresses, in seconds. `nil` if the service does not send one.
    var seconds: Int64?
    var canonicalName: DomainName?
    /// The HTTPS records, if these were asked for.
    var bindings: ServiceBindings?
    /// Whether the name does not exist at all.
    var isNoSuchName = false
    /// The reason for the missing addresses of a family, although there are those of the other one.
    var fault: ResolverError.Reason?

    /// Adds the addresses of a family. If one of them is malformed, none of the family counts, and those of
    /// the other family do.
    mutating func add(_ parts: [JSONPart], of family: IPAddress.Family) {
        do throws(ResolverError.Reason) {
            var all: [IPAddress] = []
            for part in parts { all.append(try part.address(of: family)) }
            addresses += all
        } catch {
            fault = error
        }
    }

    /// Limits the time to live to this number of seconds.
    mutating func bound(_ limit: Int64) {
        seconds = min(seconds ?? limit, limit)
    }
}

extension Result<ServiceAnswer, ResolverError.Reason> {
    /// Returns the answer with the addresses of one to another question for the same name. The shorter time
    /// to live counts. One's failure does not hide the other's addresses.
    func adding(_ other: Self) -> Self {
        switch (self, other) {
        case (.success(var all), .success(let other)):
            all.addresses += other.addresses
            all.fault = all.fault ?? other.fault
            if let seconds = other.seconds { all.bound(seconds) }
            return .success(all)
        case (.success(var all), .failure(let fault)), (.failure(let fault), .success(var all)):
            all.fault = all.fault ?? fault
            return .success(all)
        case (.failure, .failure): return self
        }
    }
}

extension ServiceSettings.Families {
    /// The record types to query. IPv6 comes first, as RFC 8305 recommends.
    var types: [UInt16] {
        switch self {
        case .both: [DNSType.aaaa, DNSType.a]
        case .v4: [DNSType.a]
        case .v6: [DNSType.aaaa]
        }
    }

    /// Whether addresses of this family are wanted.
    func contains(_ family: IPAddress.Family) -> Bool {
        switch self {
        case .both: true
        case .v4: family == .v4
        case .v6: family == .v6
        }
    }
}

extension String {
    /// The string percent-encoded for a URL's query. All but RFC 3986's unreserved characters are encoded.
    var asQueryValue: String {
        var text: [UInt8] = []
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                text.append(byte)
            default:
                text += [UInt8(ascii: "%"), Hex.upperCaseDigit(byte >> 4), Hex.upperCaseDigit(byte & 15)]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
