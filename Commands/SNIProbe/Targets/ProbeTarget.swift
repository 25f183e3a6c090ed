internal import DirectCore
internal import DirectHTTP

/// The target of a probe without its address: the host, the port, and the request if there is one.
struct ProbeTarget: Hashable, Sendable {
    let host: HTTPHost
    let port: UInt16
    /// Whether the user gave the port.
    private let hasPort: Bool
    /// The URL of the request; `nil` for a handshake alone.
    let url: HTTPURL?

    init(host: HTTPHost, port: UInt16? = nil) {
        self.host = host
        self.port = port ?? 443
        hasPort = port != nil
        url = nil
    }

    init(_ url: HTTPURL) {
        host = url.host
        (port, hasPort) = (url.port, true)
        self.url = url
    }

    /// The host as text.
    var name: String { host.description }

    /// The command-line argument that probes the same host at all addresses found in DNS.
    var word: String { port == 443 ? name : "\(name):\(port)" }

    /// Returns the target with the port of a protocol, if the user gave none.
    func withPort(of upgrade: StartTLS?) -> ProbeTarget {
        guard let upgrade, !hasPort else { return self }
        return ProbeTarget(host: host, port: upgrade.port)
    }

    /// The heading of a block of results. It contains the path, because two URLs of a host are two targets.
    var heading: String {
        guard let path = url?.path, path != "/" else { return word }
        return word + path
    }

    var usesTLS: Bool { url?.scheme != .http }

    /// The identity that the certificate must contain. It does not depend on the address that is dialled.
    var identity: ServerIdentity {
        get throws(TLSError) { ServerIdentity(of: host) }
    }
}

/// A target at one address. Each probe has one result.
struct Probe: Hashable, Sendable {
    let target: ProbeTarget
    let address: IPAddress
    let port: UInt16
    let source: Source
    /// The time that the resolver took. `nil` if the address was given.
    var resolveTime: Duration?

    /// The source of the address.
    enum Source: Hashable, Sendable, CustomStringConvertible {
        case argument
        case resolver
        /// These of the resolvers that `--resolver` names.
        case resolvers([String])
        /// An HTTPS record, which names it beside its target.
        case hint
        case file(name: String, line: Int)
        /// None: certificates in this file are judged.
        case checked(String)

        var description: String {
            switch self {
            case .checked(let file): "\(file == "-" ? "standard input" : file):1"
            case .argument: "argument"
            case .resolver, .resolvers: "resolver"
            case .hint: "hint"
            case .file(let name, let line): "\(name):\(line)"
            }
        }
    }
}

extension IPAddress {
    /// What stands in place of an address where there is none.
    static let unspecified = IPAddress(.v4, high: 0, low: 0)
}
