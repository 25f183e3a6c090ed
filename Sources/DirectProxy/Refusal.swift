internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// Why a program does not get what it asks for: the status, and one line that names what to change.
struct Refusal: Error, Sendable {
    /// The kinds of refusals, with their status in HTTP and their reply in SOCKS (RFC 1928, section 6).
    enum Kind: Sendable {
        case malformed, tooLarge, unauthorized, forbidden, unsupported, unknownHost, unreachable, late, full

        var status: UInt16 {
            switch self {
            case .malformed: 400
            case .tooLarge: 431
            case .unauthorized: 407
            case .forbidden: 403
            case .unsupported: 501
            case .unknownHost, .unreachable: 502
            case .late: 504
            case .full: 503
            }
        }

        var reply: UInt8 {
            switch self {
            case .forbidden, .unauthorized: 2
            case .unknownHost: 4
            case .unreachable: 5
            case .late: 6
            case .unsupported: 7
            case .malformed, .tooLarge, .full: 1
            }
        }
    }

    let kind: Kind
    let line: String
}

extension Refusal {
    /// The failure of dialling, or of asking for addresses.
    init(_ cause: TransportError, of target: Target) {
        guard case .failed(let phase, let reason) = cause else {
            self.init(kind: .full, line: "\(target): the proxy was stopped")
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
