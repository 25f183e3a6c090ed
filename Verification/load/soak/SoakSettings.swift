import DirectHTTP

/// The settings on the command line.
struct SoakSettings: Sendable {
    /// `seed=N`: for the order of the calls and what each does.
    var seed: UInt64 = 1
    /// `callers=N`: how many tasks make calls.
    var callers = 16
    /// `roots=FILE`: the certificate of the peers' authority.
    var roots = ""
    /// `blobs=FOLDER`: the contents that right servers send, by name.
    var blobs = Blobs()
    /// `cache=FOLDER`: where the cache on disk is.
    var cacheFolder = ""
    /// `connect=PORT`, `socks=PORT`: the proxies of the relay.
    var connectPort = "", socksPort = ""
    /// `proxy=ADDRESS:PORT`: where direct-proxy is.
    var proxyPlace = ""
    /// `peer=NAME:SCHEME:PORT:RELAY-PORT:CONTENTS:FEATURES`, once for each server.
    var peers: [Peer] = []

    init(_ arguments: [String]) throws {
        for argument in arguments.dropFirst() {
            guard let equals = argument.firstIndex(of: "=") else { fail("not key=value: \(argument)") }
            try set(String(argument[..<equals]), to: String(argument[argument.index(after: equals)...]))
        }
        guard !roots.isEmpty, !blobs.isEmpty, !peers.isEmpty else {
            fail("roots, blobs and peers are needed")
        }
    }

    private mutating func set(_ key: String, to value: String) throws {
        switch key {
        case "seed": seed = UInt64(value) ?? seed
        case "callers": callers = Int(value) ?? callers
        case "roots": roots = value
        case "blobs": blobs = Blobs(folder: value)
        case "cache": cacheFolder = value
        case "connect": connectPort = value
        case "socks": socksPort = value
        case "proxy": proxyPlace = value
        case "peer": peers.append(Peer(value))
        default: fail("unknown setting: \(key)")
        }
    }
}

/// A server, and what it can do.
struct Peer: Sendable {
    enum Feature: String {
        /// Static contents; with `ETag` and a freshness of a second; compressed; in chunks; slowly.
        case blob, cached, gzip, chunked, drip
        /// A redirect on the same server, and to another one.
        case redirect, away
        /// Counts and hashes an upload; refuses one without reading it.
        case sum, refuse
        /// Answers every other request with 503.
        case busy
        /// Returns the field `X-Nonce` of the request.
        case nonce
    }

    let name, scheme, port, relayPort: String
    /// The one content that the server has; all of them if empty.
    let content: String
    let features: Set<Feature>

    init(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 6 else { fail("not a peer: \(text)") }
        (name, scheme, port, relayPort, content) = (parts[0], parts[1], parts[2], parts[3], parts[4])
        features = Set(parts[5].split(separator: ",").compactMap { Feature(rawValue: String($0)) })
    }

    /// Whether it serves every content to any number of connections.
    var isAlwaysThere: Bool { content.isEmpty && features.contains(.cached) }

    var host: String { "\(name).soak.test" }
    func authority(relayed: Bool) -> String { "\(host):\(relayed ? relayPort : port)" }
    func url(_ path: String, relayed: Bool) -> String { "\(scheme)://\(authority(relayed: relayed))\(path)" }
}
