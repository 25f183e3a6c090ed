internal import DirectCore
internal import DirectHTTP

/// A parsed argument: a target, addresses, or both.
enum TargetWord: Equatable {
    case target(ProbeTarget, at: [ProbeAddresses])
    case addresses([ProbeAddresses])

    init(_ word: String) throws(TargetError) {
        if word.utf8.first == UInt8(ascii: "@") {
            self = .addresses(try Self.addresses(word.dropFirst()))
        } else if word.hasSchemeEnd {
            self = try Self.url(word)
        } else {
            self = try Self.host(word)
        }
    }

    /// Parses addresses separated by commas.
    static func addresses(_ text: some StringProtocol) throws(TargetError) -> [ProbeAddresses] {
        guard !text.isEmpty else { throw .noAddresses }
        var ranges: [ProbeAddresses] = []
        for part in Substring(text).utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        {
            ranges.append(try ProbeAddresses(Substring(part)))
        }
        return ranges
    }

    /// Parses a URL. A suffix `@…` counts only after the authority, and only if it consists of addresses.
    private static func url(_ word: String) throws(TargetError) -> TargetWord {
        var text = Substring(word)
        var ranges: [ProbeAddresses] = []
        if let scheme = word.firstRange(of: "://"),
            let path = word[scheme.upperBound...].firstIndex(where: { "/?#".contains($0) }),
            let at = word[path...].lastIndex(of: "@"),
            let found = try? addresses(word[word.index(after: at)...])
        {
            text = word[..<at]
            ranges = found
        }
        let url: HTTPURL
        do throws(HTTPURLError) {
            url = try HTTPURL(String(text))
        } catch .host(.notASCII) {
            throw .notASCII(word)
        } catch {
            throw .badURL(word, why: "\(error)")
        }
        guard url.user == nil else { throw .userInURL(word) }
        // A URL may have this port (RFC 3986, section 3.2.3), but nothing can be reached there.
        guard url.port > 0 else { throw .badPort("0") }
        // If the host is an address, the probe connects to it.
        if ranges.isEmpty, case .address(let address) = url.host { ranges = [ProbeAddresses(address)] }
        return .target(ProbeTarget(url), at: ranges)
    }

    private static func host(_ word: String) throws(TargetError) -> TargetWord {
        guard let at = word.utf8.firstIndex(of: UInt8(ascii: "@")) else { return try named(word, at: nil) }
        return try named(String(word[..<at]), at: addresses(word[word.utf8.index(after: at)...]))
    }

    /// Parses `host`, `host:port`, or `host:port:IP` in curl's syntax.
    private static func named(_ text: String, at ranges: [ProbeAddresses]?) throws(TargetError) -> TargetWord
    {
        if let endpoint = try endpoint(text) {
            let target = ProbeTarget(host: .address(endpoint.address), port: endpoint.port)
            // If the host is an address, the probe connects to it.
            return .target(target, at: ranges ?? [ProbeAddresses(endpoint.address)])
        }
        let parts = Substring(text).utf8.split(
            separator: UInt8(ascii: ":"),
            maxSplits: 2,
            omittingEmptySubsequences: false
        ).map(Substring.init)
        let host = try name(String(parts.first ?? ""))
        let port = parts.count > 1 ? try Self.port(parts[1]) : nil
        guard parts.count > 2 else { return .target(ProbeTarget(host: host, port: port), at: ranges ?? []) }
        guard ranges == nil else { throw .badHost(text, why: "it names its IPs twice") }
        return .target(ProbeTarget(host: host, port: port), at: try addresses(parts[2]))
    }

    /// Parses an address with or without a port; returns `nil` if the text does not look like one.
    private static func endpoint(_ text: String) throws(TargetError) -> Endpoint? {
        do throws(AddressError) {
            return try Endpoint(text)
        } catch .invalidPort(let port) {
            throw .badPort(port)
        } catch {
            guard text.utf8.first == UInt8(ascii: "[") else { return nil }
            throw .badHost(text, why: "not an IPv6 address in brackets, such as [2001:db8::1]:443")
        }
    }

    private static func name(_ text: String) throws(TargetError) -> HTTPHost {
        // A trailing dot marks a fully qualified name and is not part of it.
        let isComplete = text.utf8.last == UInt8(ascii: ".") && !text.hasSuffix("..")
        let bare = isComplete ? String(text.dropLast()) : text
        do throws(HTTPHostError) {
            return .name(try DomainName(bare))
        } catch .notASCII {
            throw .notASCII(text)
        } catch .looksNumeric {
            throw .notAnAddress(text)
        } catch {
            throw .badHost(text, why: "\(error)")
        }
    }

    private static func port(_ text: Substring) throws(TargetError) -> UInt16 {
        guard let port = UInt16(text), port > 0, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw .badPort(String(text))
        }
        return port
    }
}

extension String {
    /// Whether `://` occurs in it.
    fileprivate var hasSchemeEnd: Bool {
        var slashes = -1
        for byte in utf8 {
            if byte == UInt8(ascii: ":") {
                slashes = 0
            } else if byte == UInt8(ascii: "/"), slashes >= 0 {
                slashes += 1
                if slashes == 2 { return true }
            } else {
                slashes = -1
            }
        }
        return false
    }
}
