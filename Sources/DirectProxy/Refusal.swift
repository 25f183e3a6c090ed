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
}

extension Refusal {
    /// The failure of dialling, or of asking for addresses.
    init(_ cause: TransportError, of target: Target) {
        guard case .failed(let phase, let reason) = cause else {
            self = .stopped
            return
        }
        switch reason {
        case .refused(let refusal):
            let hint =
                refusal.reason == FarDialler.ownReason
                ? "" : "; name the address in the map, or change the vetting"
            self.init(kind: .forbidden, line: "\(target): \(refusal)\(hint)")
        case .timedOut(let time):
            self.init(kind: .late, line: "\(target): \(phase) took longer than \(time.text)")
        case .resolver, .lookup, .noAddresses:
            self.init(
                kind: .unknownHost,
                line: "\(target): \(reason.words); name its address in the map"
            )
        case .system(let error) where error.isDescriptorShortage:
            self.init(kind: .full, line: "\(target): \(error); raise the limit of open files (ulimit -n)")
        case .proxy(let error):
            self.init(kind: .unreachable, line: "\(target): upstream proxy: \(error)")
        default:
            let place = phase == .proxy ? "upstream proxy: " : ""
            self.init(kind: .unreachable, line: "\(target): \(place)\(reason.words)")
        }
    }
}

extension TransportError.Reason {
    /// The reason in words, for one line.
    fileprivate var words: String {
        switch self {
        case .noAddresses: "the resolver named no address"
        case .system(let error): "\(error)"
        case .lookup(let error): "\(error)"
        case .resolver(let error): "\(error)"
        case .address(let error): "\(error)"
        case .tls(let error): "\(error)"
        case .http(let error): "\(error)"
        case .connectionClosed: "the connection was closed"
        default: "it cannot be reached"
        }
    }
}
