internal import DirectCore
internal import DirectHTTP
internal import DirectResolvers

/// A source of addresses that `--resolver` names.
enum ResolverSpec: Hashable, Sendable {
    /// The system's resolver.
    case system
    /// A DNS server, with the network that answers are to be for.
    case dns(Endpoint, PlainDNS.ClientSubnet?)
    /// A server of DNS over HTTPS: the path, the name that its certificate must contain, and its addresses.
    case https(name: String?, path: String, [Endpoint])
    /// Alibaba's HTTPDNS: the account and the servers.
    case alibaba(account: String, [Endpoint])
    /// DNSPod's HTTPDNS: the ID of the account and the servers.
    case dnspod(id: String?, [Endpoint])
    /// A hosts file.
    case hosts(String)

    /// Parses the value of the option.
    init(_ text: String) throws(UsageError) {
        if text == "system" {
            self = .system
        } else if let rest = Self.rest(of: text, after: "dns://") {
            self = try Self.dns(rest, text: text)
        } else if text.hasPrefix("https://") {
            self = try Self.https(text)
        } else if let rest = Self.rest(of: text, after: "alibaba://") {
            guard let at = rest.firstIndex(of: "@"), at > rest.startIndex else {
                throw Self.bad(
                    text,
                    why: "Alibaba's HTTPDNS needs an account and the IP of a server",
                    hint: "alibaba://ACCOUNT@IP; the secret is taken from SNI_PROBE_ALIBABA_SECRET"
                )
            }
            let account = String(rest[..<at])
            try Self.checkAccount(account, hint: "the secret is taken from SNI_PROBE_ALIBABA_SECRET")
            self = .alibaba(account: account, try Self.servers(rest[rest.index(after: at)...], text: text))
        } else if let rest = Self.rest(of: text, after: "dnspod://") {
            let parts = rest.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
            let id = parts.count > 1 ? String(parts[0]) : nil
            if let id { try Self.checkAccount(id, hint: "the token is taken from SNI_PROBE_DNSPOD_TOKEN") }
            self = .dnspod(id: id, try Self.servers(parts[parts.count - 1], text: text))
        } else if let path = Self.rest(of: text, after: "hosts:"), !path.isEmpty {
            self = .hosts(String(path))
        } else {
            let isServer = (try? Endpoint(text)) != nil
            throw UsageError(
                "--resolver does not take \(quoted(text))",
                hint: isServer
                    ? "did you mean dns://\(shortened(text))?"
                    : "system, dns://IP, https://NAME/dns-query@IP, alibaba://ACCOUNT@IP, dnspod://[ID@]IP or hosts:FILE"
            )
        }
    }

    /// The name in the output. It contains no secret.
    var name: String {
        switch self {
        case .system: "system"
        case .dns(let server, let subnet):
            "dns://\(server)" + (subnet.map { "?subnet=\($0.address)/\($0.prefixLength)" } ?? "")
        case .https(let name, let path, let servers): "https://\(name ?? Self.list(servers))\(path)"
        case .alibaba(_, let servers): "alibaba@\(Self.list(servers))"
        case .dnspod(_, let servers): "dnspod@\(Self.list(servers))"
        case .hosts(let path): "hosts:\(PlainText.harmless(path, unicode: true))"
        }
    }

    private static func list(_ servers: [Endpoint]) -> String { servers.first.map { "\($0)" } ?? "" }

    private static func rest(of text: String, after prefix: String) -> Substring? {
        text.hasPrefix(prefix) ? text.dropFirst(prefix.count) : nil
    }

    /// A secret on the command line could be read by every user of the machine.
    private static func checkAccount(_ account: String, hint: String) throws(UsageError) {
        guard !account.contains(":") else {
            throw UsageError(
                "--resolver takes no secret: other users of this machine could read it",
                hint: hint
            )
        }
        guard !account.isEmpty, account.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) else {
            throw UsageError("--resolver: \(quoted(account)) is not an account")
        }
    }

    private static func bad(_ text: String, why: String, hint: String? = nil) -> UsageError {
        UsageError("--resolver \(quoted(text)): \(why)", hint: hint)
    }

    /// Parses `IP`, `IP:port`, or `IP?subnet=NETWORK/LENGTH`.
    private static func dns(_ rest: Substring, text: String) throws(UsageError) -> ResolverSpec {
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let server = try servers(parts[0], text: text)
        guard server.count == 1 else {
            throw bad(text, why: "give one server at a time")
        }
        guard parts.count > 1 else { return .dns(server[0], nil) }
        let value = parts[1].hasPrefix("subnet=") ? parts[1].dropFirst(7) : ""
        let ends = value.split(separator: "/", omittingEmptySubsequences: false)
        guard ends.count == 2, let address = IPAddress(String(ends[0])), let length = Int(ends[1]),
            let subnet = PlainDNS.ClientSubnet(address, prefixLength: length)
        else {
            throw bad(
                text,
                why: "after the ? there is subnet=NETWORK/LENGTH",
                hint: "such as dns://192.0.2.53?subnet=203.0.113.0/24"
            )
        }
        return .dns(server[0], subnet)
    }

    /// Parses `https://NAME/PATH@IP`. The IP may be left out only if it stands for the name.
    private static func https(_ text: String) throws(UsageError) -> ResolverSpec {
        let word: TargetWord
        do throws(TargetError) {
            word = try TargetWord(text)
        } catch {
            throw UsageError(error)
        }
        guard case .target(let target, let ranges) = word, let url = target.url else {
            throw UsageError("--resolver \(quoted(text)) is not a URL")
        }
        guard !ranges.isEmpty else {
            throw bad(
                text,
                why: "the IP of \(target.name) is missing",
                hint: "a resolver's own name cannot be resolved by it: write the IP after the URL, \(url)@IP"
            )
        }
        let endpoints = ranges.map { Endpoint($0.first, port: $0.port ?? url.port) }
        guard ranges.allSatisfy({ $0.count == 1 }) else {
            throw bad(text, why: "a resolver has addresses, not networks")
        }
        let path = url.path == "/" ? "/dns-query" : url.path
        return .https(name: target.host.name?.text, path: path, endpoints)
    }

    private static func servers(_ list: some StringProtocol, text: String) throws(UsageError) -> [Endpoint] {
        let ranges: [ProbeAddresses]
        do throws(TargetError) {
            ranges = try TargetWord.addresses(list)
        } catch {
            throw bad(text, why: error.words.what)
        }
        guard ranges.allSatisfy({ $0.count == 1 }) else {
            throw bad(text, why: "a resolver has addresses, not networks")
        }
        return ranges.map { Endpoint($0.first, port: $0.port) }
    }
}
