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

    init(_ kind: Kind, _ line: String) {
        (self.kind, self.line) = (kind, line)
    }
}

extension Refusal {
    /// The failure of dialling, or of asking for addresses.
    init(_ cause: TransportError, of target: Target) {
        guard case .failed(let phase, let reason) = cause else {
            self = .stopped
            return
        }
        let place = phase == .proxy ? "upstream proxy: " : ""
        let (kind, words): (Kind, String) =
            switch reason {
            case .refused(let refusal) where refusal.reason == FarDialler.ownReason:
                (.forbidden, "\(refusal)")
            case .refused(let refusal):
                (.forbidden, "\(refusal); name the address in the map, or change the vetting")
            case .timedOut(let time): (.late, "\(phase) took longer than \(time.text)")
            case .resolver(let error): (.unknownHost, "\(error)\(Self.unnamed)")
            case .lookup(let error): (.unknownHost, "\(error)\(Self.unnamed)")
            case .noAddresses: (.unknownHost, "the resolver named no address\(Self.unnamed)")
            case .system(let error) where error.isDescriptorShortage:
                (.full, "\(error); raise the limit of open files (ulimit -n)")
            case .system(let error): (.unreachable, "\(place)\(error)")
            case .proxy(let error): (.unreachable, "upstream proxy: \(error)")
            case .address(let error): (.unreachable, "\(place)\(error)")
            case .tls(let error): (.unreachable, "\(place)\(error)")
            case .http(let error): (.unreachable, "\(place)\(error)")
            case .connectionClosed: (.unreachable, "\(place)the connection was closed")
            default: (.unreachable, "\(place)it cannot be reached")
            }
        self.init(kind, "\(target): \(words)")
    }

    private static let unnamed = "; name its address in the map"
}
