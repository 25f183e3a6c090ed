internal import DirectHTTP

/// What is asked for, apart from where: whose certificate, which port, and perhaps a request.
struct ProbeTarget: Hashable, Sendable {
    /// What to do once connected.
    enum Errand: Hashable, Sendable {
        /// The handshake and nothing more.
        case handshake
        /// The handshake and a request.
        case https(HTTPURL)
        /// A request without TLS.
        case http(HTTPURL)
    }

    let host: Host
    let port: UInt16
    let errand: Errand

    init(host: Host, port: UInt16 = 443) {
        self.host = host
        self.port = port
        errand = .handshake
    }

    init(_ url: HTTPURL) {
        host = url.host
        port = url.port
        errand = url.scheme == .https ? .https(url) : .http(url)
    }

    /// The name or address as people write it.
    var name: String { host.description }

    /// What to type to probe the same host at all addresses that DNS gives.
    var word: String { port == 443 ? name : "\(name):\(port)" }

    /// What a block of results stands under: two paths of a host are two things to look at.
    var heading: String {
        guard let path = url?.path, path != "/" else { return word }
        return word + path
    }

    var usesTLS: Bool {
        if case .http = errand { false } else { true }
    }

    var url: HTTPURL? {
        switch errand {
        case .handshake: nil
        case .https(let url), .http(let url): url
        }
    }

    /// What the certificate must prove. The address that is dialled has no part in it.
    var identity: ServerIdentity {
        get throws(TLSError) {
            switch host {
            case .name(let name): try .name(name.text)
            case .address(let address): try .address(address.withoutZone.description)
            }
        }
    }
}

/// A target at one address: what one line of the result is about.
struct Probe: Hashable, Sendable {
    let target: ProbeTarget
    let address: IPAddress
    let port: UInt16
    let source: Source
    /// How long the resolver took, where it was asked.
    var resolveTime: Duration?

    /// Who named the address.
    enum Source: Hashable, Sendable, CustomStringConvertible {
        case argument
        case resolver
        case file(name: String, line: Int)

        var description: String {
            switch self {
            case .argument: "argument"
            case .resolver: "resolver"
            case .file(let name, let line): "\(name):\(line)"
            }
        }
    }
}
