internal import DirectIO

/// Over which proxy requests go, if over any.
public struct ProxySettings: Hashable, Sendable {
    /// For `http` URLs.
    public var forHTTP: Proxy?
    /// For `https` URLs.
    public var forHTTPS: Proxy?
    /// Hosts that are reached without proxy.
    public var exceptions = ProxyExceptions()

    /// No proxy. The environment is not looked at.
    public init() {}

    /// One proxy for everything but the exceptions.
    public init(_ proxy: Proxy, except exceptions: ProxyExceptions = ProxyExceptions()) {
        forHTTP = proxy
        forHTTPS = proxy
        self.exceptions = exceptions
    }

    /// What the environment says at this moment: `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, all but
    /// the first also in capitals.
    ///
    /// A word of `no_proxy` that is no exception is passed over, as curl and others do: the variable is meant for many
    /// programs, each of which knows words of its own.
    /// `HTTP_PROXY` is not read: where a web server runs programs it comes from the request (CVE-2016-5385).
    public static func fromEnvironment() throws(ProxyFault) -> ProxySettings {
        try from(environmentValue)
    }

    static func from(_ value: (String) -> String?) throws(ProxyFault) -> ProxySettings {
        func proxy(_ names: String...) throws(ProxyFault) -> Proxy? {
            for name in names {
                if let text = value(name), !text.isEmpty { return try Proxy(text) }
            }
            return nil
        }
        var settings = ProxySettings()
        settings.forHTTP = try proxy("http_proxy", "all_proxy", "ALL_PROXY")
        settings.forHTTPS = try proxy("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
        if let text = value("no_proxy") ?? value("NO_PROXY") {
            settings.exceptions = ProxyExceptions(environment: text)
        }
        return settings
    }

    var isEmpty: Bool { forHTTP == nil && forHTTPS == nil }
}

/// Hosts that are reached without proxy.
public struct ProxyExceptions: Hashable, Sendable {
    private enum Rule: Hashable {
        case everything
        /// The name and every name below it, on one port or on any.
        case name(DomainName, port: UInt16?)
        /// The addresses that begin with the same bits.
        case range(IPAddress, bits: Int, port: UInt16?)
    }

    private var rules: [Rule] = []

    /// None.
    public init() {}

    /// Reads a list as `no_proxy` has it, with commas or spaces between: `*` for everything, a name for itself and
    /// all names below (a dot or `*.` before it changes nothing), an address, a range of addresses as in
    /// `10.0.0.0/8`, `10/8` or `10.*`; a name or an address may have a port, or `*` for any.
    ///
    /// Only hosts that are written as addresses fall into a range: no name is looked up for it.
    public init(_ text: String) throws(ProxyFault) {
        for word in Self.words(of: text) {
            guard let rule = Self.rule(word) else { throw .notAnException(String(word)) }
            rules.append(rule)
        }
    }

    /// Reads the same list and passes over what is no exception.
    init(environment text: String) {
        rules = Self.words(of: text).compactMap(Self.rule)
    }

    private static func words(of text: String) -> [Substring] {
        text.split { $0 == "," || $0 == " " || $0 == "\t" || $0 == "\r" || $0 == "\n" || $0 == "\r\n" }
    }

    /// Whether the host is reached without proxy.
    public func contain(_ host: Host, port: UInt16) -> Bool {
        rules.contains { rule in
            switch rule {
            case .everything: true
            case .name(let name, let only):
                (only ?? port) == port && host.name?.isSubdomain(of: name) == true
            case .range(let network, let bits, let only):
                (only ?? port) == port && host.address?.unmapped.hasPrefix(of: network, bits: bits) == true
            }
        }
    }

    private static func rule(_ word: Substring) -> Rule? {
        if word == "*" { return .everything }
        if let slash = word.firstIndex(of: "/") {
            return range(word[..<slash], word[word.index(after: slash)...])
        }
        if word.hasSuffix(".*") { return range(leading: word.dropLast(2)) }
        if let endpoint = try? Endpoint(String(word)) {
            let address = endpoint.address.unmapped
            return .range(address, bits: address.family == .v4 ? 32 : 128, port: endpoint.port)
        }
        var name = word
        var port: UInt16?
        if let colon = name.lastIndex(of: ":") {
            let text = name[name.index(after: colon)...]
            port = UInt16(text)
            guard port != nil || text == "*" else { return nil }
            name = name[..<colon]
        }
        if name.hasPrefix("*.") {
            name = name.dropFirst(2)
        } else if name.hasPrefix(".") {
            name = name.dropFirst()
        }
        if name.hasSuffix(".") { name = name.dropLast() }
        guard let known = try? DomainName(String(name)) else { return nil }
        return .name(known, port: port)
    }

    private static func range(_ address: Substring, _ length: Substring) -> Rule? {
        let bare = address.hasPrefix("[") && address.hasSuffix("]") ? address.dropFirst().dropLast() : address
        guard let bits = Int(length), bits >= 0 else { return nil }
        if let network = IPAddress(String(bare)) {
            return bits <= (network.family == .v4 ? 32 : 128) ? .range(network, bits: bits, port: nil) : nil
        }
        // The first bytes, if they are all that the bits are about: `169.254/16`.
        guard let (network, known) = network(leading: bare), bits <= known else { return nil }
        return .range(network, bits: bits, port: nil)
    }

    /// All addresses that begin with these bytes: `192.168.*`.
    private static func range(leading bytes: Substring) -> Rule? {
        network(leading: bytes).map { .range($0, bits: $1, port: nil) }
    }

    /// The IPv4 network whose first bytes are these, one to three of them, and how many bits that makes.
    private static func network(leading bytes: Substring) -> (IPAddress, bits: Int)? {
        let count = bytes.split(separator: ".", omittingEmptySubsequences: false).count
        guard count < 4 else { return nil }
        return IPAddress(bytes + String(repeating: ".0", count: 4 - count)).map { ($0, 8 * count) }
    }
}

extension IPAddress {
    /// Whether the first bits are those of the other address.
    fileprivate func hasPrefix(of network: IPAddress, bits: Int) -> Bool {
        guard family == network.family else { return false }
        let (own, its) = (words, network.words)
        guard family == .v6 else { return bits == 0 || (own.low ^ its.low) >> UInt64(32 - bits) == 0 }
        let high = own.high ^ its.high, low = own.low ^ its.low
        if bits <= 64 { return bits == 0 || high >> UInt64(64 - bits) == 0 }
        return high == 0 && low >> UInt64(128 - bits) == 0
    }
}
