internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// The refusal of a request: the status, and one line that names the remedy.
struct Refusal: Error, Sendable {
    /// A kind of refusals: its status and the reason phrase in HTTP, and its reply in SOCKS (RFC 1928,
    /// section 6).
    struct Kind: Sendable {
        let status: UInt16
        let reason: String
        let reply: UInt8

        private init(_ status: UInt16, _ reason: String, reply: UInt8) {
            (self.status, self.reason, self.reply) = (status, reason, reply)
        }

        static let malformed = Kind(400, "Bad Request", reply: 1)
        static let unauthorized = Kind(407, "Proxy Authentication Required", reply: 2)
        static let forbidden = Kind(403, "Forbidden", reply: 2)
        static let slow = Kind(408, "Request Timeout", reply: 1)
        static let tooLarge = Kind(431, "Request Header Fields Too Large", reply: 1)
        static let unsupported = Kind(501, "Not Implemented", reply: 7)
        static let unknownHost = Kind(502, "Bad Gateway", reply: 4)
        static let unreachable = Kind(502, "Bad Gateway", reply: 5)
        static let full = Kind(503, "Service Unavailable", reply: 1)
        static let late = Kind(504, "Gateway Timeout", reply: 6)
    }

    let kind: Kind
    let line: String
    /// The address that was connected to, where addresses come from, and those that have failed.
    var endpoint: Endpoint?
    var source: AddressSource?
    var failed: [Endpoint] = []

    init(_ kind: Kind, _ line: String) {
        (self.kind, self.line) = (kind, line)
    }
}

extension Refusal {
    static let noCredentials = Refusal(
        .unauthorized,
        "the proxy's user and password are missing or wrong; take the proxy's URL, or open it to all programs"
    )
    static let notAnAuthority = malformed("CONNECT takes a host and a port, such as www.example.com:443")
    static let withContent = malformed("a CONNECT request must not have Content-Length or Transfer-Encoding")
    static let notAbsolute = malformed(
        "a proxy takes CONNECT, or an http URL such as http://www.example.com/; https goes by CONNECT"
    )
    static let noHost = malformed("a request of HTTP/1.1 has one Host field")
    static let notAHost = malformed("the SOCKS request names no host; take socks5h, and a name or an address")
    static let unknownExpectation = malformed("of Expect the proxy knows 100-continue alone")
    static let noTrace = Refusal(.unsupported, "TRACE is not forwarded")
    static let noForwardsLeft = Refusal(.unsupported, "Max-Forwards is used up here")
    static let notConnect = Refusal(.unsupported, "of SOCKS the proxy has CONNECT only, no BIND and no UDP")
    static let gone = Refusal(.unreachable, "the program has gone")
    static let stopped = Refusal(.full, "the proxy was stopped")
    static let crowded = Refusal(
        .full,
        "too many programs have sent no request yet; raise limits.waiting, or the open files (ulimit -n)"
    )

    static func malformed(_ line: String) -> Refusal { Refusal(.malformed, line) }

    static func full(_ limits: LocalProxy.Limits) -> Refusal {
        Refusal(.full, "no more tunnels than \(limits.tunnels) may be open; raise limits.tunnels")
    }

    static func slow(_ limits: LocalProxy.Limits) -> Refusal {
        Refusal(.slow, "no whole request came within \(limits.head.text); raise limits.head")
    }

    static func inNoMap(_ target: Target) -> Refusal {
        let words = "is in no map, and others are refused; name it in a map, or allow others"
        return Refusal(.forbidden, "\(target) \(words)")
    }

    init(_ fault: RequestFault) {
        switch fault {
        case .message(.headTooLarge), .message(.lineTooLong):
            self.init(.tooLarge, "\(fault); raise limits.headBytes")
        case .message(.tooManyFields): self.init(.tooLarge, "\(fault)")
        default: self = .malformed("not a request to a proxy: \(fault)")
        }
    }

    /// The answer in HTTP. The connection ends with it.
    func answer(hasBody: Bool) -> [UInt8] {
        let challenge = kind.status == 407 ? "Proxy-Authenticate: Basic realm=\"direct-proxy\"\r\n" : ""
        return Self.answer(
            "\(kind.status) \(kind.reason)",
            "\(challenge)Content-Type: text/plain; charset=utf-8",
            "\(line)\n",
            hasBody: hasBody
        )
    }

    /// A last answer in HTTP: with its length, and the end.
    static func answer(_ status: String, _ fields: String, _ body: String, hasBody: Bool = true) -> [UInt8] {
        let head = "HTTP/1.1 \(status)\r\n\(fields)\r\nContent-Length: \(body.utf8.count)\r\n"
        return Array("\(head)Connection: close\r\n\r\n\(hasBody ? body : "")".utf8)
    }

    /// The failure of dialling, or of asking for addresses.
    init(_ failure: DialFailure, of target: Target) {
        guard case .failed(let phase, let reason) = failure.cause else {
            self = .stopped
            return
        }
        let at = failure.endpoint.map { " at \($0)" } ?? ""
        let place = phase == .proxy ? ": upstream proxy\(at)" : at
        let (kind, words): (Kind, String) =
            switch reason {
            case .refused(let refusal) where refusal.reason == FarDialler.ownReason:
                (.forbidden, ": \(refusal)")
            case .refused(let refusal):
                (.forbidden, ": \(refusal); name the address in the map, or change the vetting")
            case .timedOut(let time): (.late, ": \(phase) took longer than \(time.text)")
            case .resolver(let error): (.unknownHost, ": \(error)\(Self.unnamed)")
            case .lookup(let error): (.unknownHost, ": \(error)\(Self.unnamed)")
            case .noAddresses: (.unknownHost, ": the resolver named no address\(Self.unnamed)")
            case .system(let error) where error.isDescriptorShortage:
                (.full, ": \(error); raise the limit of open files (ulimit -n)")
            // It has been reached, and was asked for this address.
            case .proxy(let error): (.unreachable, "\(at): upstream proxy: \(error)\(Self.hint(error))")
            case .connectionClosed: (.unreachable, "\(place): the connection was closed")
            case .system(let error): (.unreachable, "\(place): \(error)")
            case .address(let error): (.unreachable, "\(place): \(error)")
            case .tls(let error): (.unreachable, "\(place): \(error)")
            case .http(let error): (.unreachable, "\(place): \(error)")
            default: (.unreachable, "\(place): it cannot be reached")
            }
        self.init(kind, "\(target)\(words)")
        (source, failed) = (failure.attempts.last?.source, failure.attempts.map(\.endpoint))
    }

    /// All targets are asked for by CONNECT, and many proxies allow port 443 alone.
    private static func hint(_ error: ProxyError) -> String {
        guard case .refused(let answer) = error, answer.status != 407 else { return "" }
        return "; it has to allow CONNECT to the address and port that are chosen here"
    }

    private static let unnamed = "; name its address in the map"
}
