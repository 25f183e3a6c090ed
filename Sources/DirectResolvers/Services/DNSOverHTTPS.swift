internal import DirectCore
public import DirectHTTP
internal import DirectIO

/// A resolver that uses DNS over HTTPS (RFC 8484).
///
///     let servers = ServiceServers.https(["223.5.5.5", "223.6.6.6"], name: "dns.alidns.com")
///     let client = HTTPClient { $0.resolver = CachingResolver(DNSOverHTTPS(servers)) }
public struct DNSOverHTTPS: Resolver, ServiceResolver {
    /// The HTTP method of the queries.
    public enum Method: Hashable, Sendable {
        /// The query is the body of a POST request. It is shorter and does not appear in logs of URLs.
        case post
        /// The query is in the URL of a GET request. The server and caches in front of it can cache the
        /// response.
        case get
    }

    let client: ServiceClient

    /// Creates a resolver that queries these servers.
    ///
    /// - Parameters:
    ///   - servers: The servers.
    ///   - path: The path of the service's URL.
    ///   - method: The HTTP method of the queries.
    ///   - isPadded: Whether queries are padded, which hides the length of the name (RFC 8467).
    ///   - settings: Time limits, TLS and address families.
    public init(
        _ servers: ServiceServers,
        path: String = "/dns-query",
        method: Method = .post,
        isPadded: Bool = false,
        _ settings: ServiceSettings = ServiceSettings()
    ) {
        let format = DNSMessageFormat(path: path, method: method, isPadded: isPadded)
        client = ServiceClient(format, servers, settings)
    }
}

/// DNS messages in HTTP requests and responses.
struct DNSMessageFormat: RecordFormat {
    let path: String
    let method: DNSOverHTTPS.Method
    let isPadded: Bool

    var name: String { "DNS over HTTPS" }

    func question(
        _ host: DomainName,
        type: UInt16,
        at time: UnixTime
    ) throws(ResolverError.Reason) -> ServiceQuestion {
        let message = DNSQuery.message(host, type: type, isPadded: isPadded)
        switch method {
        case .post:
            let headers: HTTPHeaders = ["Accept": Self.mediaType, "Content-Type": Self.mediaType]
            return ServiceQuestion(
                method: .post,
                target: path,
                headers: headers,
                body: message,
                type: type
            )
        case .get:
            let target = "\(path)?dns=\(Base64URL.encode(message))"
            return ServiceQuestion(target: target, headers: ["Accept": Self.mediaType], type: type)
        }
    }

    func answer(
        _ response: BufferedResponse,
        host: DomainName,
        question: ServiceQuestion
    ) throws(ResolverError.Reason) -> ServiceAnswer {
        try response.checkIsSuccess()
        try response.checkMediaType(Self.mediaType)
        let message: DNSAnswer
        do throws(DNSMessageError) {
            message = try DNSAnswer(response.body, to: host, type: question.type)
        } catch {
            throw .malformed("\(error)")
        }
        var answer = try ServiceAnswer(message)
        response.boundByFreshness(&answer)
        return answer
    }

    private static let mediaType = "application/dns-message"
}

extension ServiceAnswer {
    /// The answer of a DNS message.
    init(_ message: DNSAnswer) throws(ResolverError.Reason) {
        self.init(canonicalName: message.canonicalName)
        try note(code: Int64(message.code))
        addresses = message.addresses.map(\.address)
        for address in message.addresses { bound(Int64(address.timeToLive)) }
        bindings = message.https?.bindings
        if let time = message.https?.timeToLive { bound(Int64(time)) }
    }

    /// Sets the DNS response code. All codes except success and "no such name" are failures.
    mutating func note(code: Int64) throws(ResolverError.Reason) {
        switch code {
        case 0: break
        case 3: isNoSuchName = true
        case 1: throw .refused("FORMERR")
        case 2: throw .refused("SERVFAIL")
        case 4: throw .refused("NOTIMP")
        case 5: throw .refused("REFUSED")
        default: throw .refused("DNS response code \(code)")
        }
    }
}

extension BufferedResponse {
    /// Throws unless the status is 200.
    func checkIsSuccess() throws(ResolverError.Reason) {
        guard status == .ok else { throw .refused("HTTP status \(status.code)") }
    }

    /// Throws unless the response has this media type. A captive portal also answers with status 200, but
    /// with a page.
    func checkMediaType(_ expected: String) throws(ResolverError.Reason) {
        let given = headers["Content-Type"].map { $0.prefix { $0 != ";" && $0 != " " }.lowercased() }
        guard given == expected else { throw .malformed("it is not \(expected)") }
    }

    /// Limits the time to live by the freshness lifetime of the HTTP response, and subtracts the time that
    /// the response spent in an HTTP cache (RFC 8484, section 5.1).
    func boundByFreshness(_ answer: inout ServiceAnswer) {
        let control = CacheControl(headers)
        let lifetime = control.noStore || control.noCache ? 0 : control.maxAge
        let age = headers["Age"].flatMap { Int64($0) }.map { max(0, $0) } ?? 0
        if let lifetime { answer.bound(lifetime) }
        if let seconds = answer.seconds {
            answer.seconds = max(0, seconds.subtractingReportingOverflow(age).partialValue)
        }
    }
}

/// Base64 for URLs, without padding (RFC 4648, section 5).
enum Base64URL {
    static func encode(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 4 / 3 + 3)
        var bits: UInt32 = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                text.append(alphabet[Int(bits >> UInt32(count)) & 63])
            }
        }
        if count > 0 { text.append(alphabet[Int(bits << UInt32(6 - count)) & 63]) }
        return String(decoding: text, as: UTF8.self)
    }
}
