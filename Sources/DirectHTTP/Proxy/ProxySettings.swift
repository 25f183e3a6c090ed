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
            settings.exceptions = try ProxyExceptions(text)
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
    /// `10.0.0.0/8`; a name or an address may have a port.
    ///
    /// Only hosts that are written as addresses fall into a range: no name is looked up for it.
    public init(_ text: String) throws(ProxyFault) {
        for word in text.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }) {
            guard let rule = Self.rule(word) else { throw .notAnException(String(word)) }
            rules.append(rule)
        }
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
        if let endpoint = try? Endpoint(String(word)) {
            let address = endpoint.address.unmapped
            return .range(address, bits: address.family == .v4 ? 32 : 128, port: endpoint.port)
        }
        var name = word
        var port: UInt16?
        if let colon = name.lastIndex(of: ":") {
            port = UInt16(name[name.index(after: colon)...])
            guard port != nil else { return nil }
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
        guard let network = IPAddress(String(bare)), let bits = Int(length), bits >= 0,
            bits <= (network.family == .v4 ? 32 : 128)
        else { return nil }
        return .range(network, bits: bits, port: nil)
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
