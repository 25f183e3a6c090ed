public import DirectCore
internal import DirectIO

/// The proxies that a client uses, and the hosts that it reaches without them.
public struct ProxySettings: Hashable, Sendable {
    /// The proxy for `http` URLs; `nil` for none.
    public var forHTTP: Proxy?
    /// The proxy for `https` URLs; `nil` for none.
    public var forHTTPS: Proxy?
    /// The hosts that are reached without a proxy.
    public var exceptions = ProxyExceptions()

    /// Creates settings without a proxy. The environment is not read; see ``fromEnvironment()``.
    public init() {}

    /// Creates settings with one proxy for all URLs but those of the exceptions.
    public init(_ proxy: Proxy, except exceptions: ProxyExceptions = ProxyExceptions()) {
        forHTTP = proxy
        forHTTPS = proxy
        self.exceptions = exceptions
    }

    /// Reads the settings from the environment variables `http_proxy`, `https_proxy`, `all_proxy` and
    /// `no_proxy` as they are now. All but the first may also be written in capitals.
    ///
    /// An entry of `no_proxy` that cannot be parsed is skipped, as curl and others do: the variable is shared
    /// by many programs, each of which has its own syntax.
    ///
    /// `HTTP_PROXY` is not read: where a web server runs programs, it comes from the request (CVE-2016-5385).
    ///
    /// - Throws: ``ProxyError`` if the text of a proxy cannot be parsed.
    public static func fromEnvironment() throws(ProxyError) -> ProxySettings {
        try from(environmentValue)
    }

    /// Reads the settings from variables that `value` returns.
    package static func from(_ value: (String) -> String?) throws(ProxyError) -> ProxySettings {
        func proxy(_ names: String...) throws(ProxyError) -> Proxy? {
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

    /// Returns the proxy for this URL, or `nil` to connect directly.
    package func proxy(for url: HTTPURL) -> Proxy? {
        guard let proxy = url.scheme == .https ? forHTTPS : forHTTP else { return nil }
        return exceptions.contain(url.host, port: url.port) ? nil : proxy
    }
}

/// The hosts that are reached without a proxy.
public struct ProxyExceptions: Hashable, Sendable {
    private enum Rule: Hashable {
        case everything
        /// The name and all its subdomains, on one port or on any.
        case name(DomainName, port: UInt16?)
        /// The addresses with the same leading bits.
        case range(IPAddress, bits: Int, port: UInt16?)
    }

    private var rules: [Rule] = []

    /// Creates an empty list.
    public init() {}

    /// Parses a list in the syntax of `no_proxy`, with commas or white space between its entries. An entry is
    /// one of:
    /// - `*`: every host.
    /// - A name: itself and all its subdomains. A leading dot or `*.` changes nothing.
    /// - An address, or a range of addresses such as `10.0.0.0/8`, `10/8` or `10.*`.
    ///
    /// A colon and a port after a name or an address limit the entry to that port; `:*` after a name means
    /// any port. A range matches only hosts that are written as addresses: no name is resolved for it.
    ///
    /// - Throws: ``ProxyError/notAnException(_:)`` for an entry of another form.
    public init(_ text: String) throws(ProxyError) {
        for word in Self.words(of: text) {
            guard let rule = Self.rule(word) else { throw .notAnException(String(word)) }
            rules.append(rule)
        }
    }

    /// Parses a list in the same syntax, and skips entries that cannot be parsed.
    init(environment text: String) {
        rules = Self.words(of: text).compactMap(Self.rule)
    }

    private static func words(of text: String) -> [Substring] {
        text.split { $0 == "," || $0 == " " || $0 == "\t" || $0 == "\r" || $0 == "\n" || $0 == "\r\n" }
    }

    /// Returns whether the host is reached without a proxy.
    public func contain(_ host: HTTPHost, port: UInt16) -> Bool {
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
            return range(word[..<slash], length: word[word.index(after: slash)...])
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

    private static func range(_ address: Substring, length: Substring) -> Rule? {
        let bare = address.hasPrefix("[") && address.hasSuffix("]") ? address.dropFirst().dropLast() : address
        guard let bits = Int(length), bits >= 0 else { return nil }
        if let network = IPAddress(String(bare)) {
            return bits <= (network.family == .v4 ? 32 : 128) ? .range(network, bits: bits, port: nil) : nil
        }
        // Leading bytes, if the prefix length covers no more than them: `169.254/16`.
        guard let (network, known) = network(leading: bare), bits <= known else { return nil }
        return .range(network, bits: bits, port: nil)
    }

    /// Returns the range of all addresses that begin with these bytes: `192.168.*`.
    private static func range(leading bytes: Substring) -> Rule? {
        network(leading: bytes).map { .range($0, bits: $1, port: nil) }
    }

    /// Returns the IPv4 network that begins with these one to three bytes, and the number of its leading
    /// bits.
    private static func network(leading bytes: Substring) -> (IPAddress, bits: Int)? {
        let count = bytes.split(separator: ".", omittingEmptySubsequences: false).count
        guard count < 4 else { return nil }
        return IPAddress(bytes + String(repeating: ".0", count: 4 - count)).map { ($0, 8 * count) }
    }
}

extension IPAddress {
    /// Whether the address shares its first bits with the network.
    fileprivate func hasPrefix(of network: IPAddress, bits: Int) -> Bool {
        guard family == network.family else { return false }
        let (own, its) = (words, network.words)
        guard family == .v6 else { return bits == 0 || (own.low ^ its.low) >> UInt64(32 - bits) == 0 }
        let high = own.high ^ its.high, low = own.low ^ its.low
        if bits <= 64 { return bits == 0 || high >> UInt64(64 - bits) == 0 }
        return high == 0 && low >> UInt64(128 - bits) == 0
    }
}
