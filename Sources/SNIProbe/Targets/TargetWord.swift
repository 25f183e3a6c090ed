internal import DirectHTTP

/// One word that names a target, addresses, or both.
enum TargetWord: Equatable {
    case target(ProbeTarget, at: [ProbeAddresses])
    case addresses([ProbeAddresses])

    init(_ word: String) throws(TargetFault) {
        if word.hasPrefix("@") {
            self = .addresses(try Self.addresses(word.dropFirst()))
        } else if word.contains("://") {
            self = try Self.url(word)
        } else {
            self = try Self.host(word)
        }
    }

    /// Addresses with commas between.
    static func addresses(_ text: some StringProtocol) throws(TargetFault) -> [ProbeAddresses] {
        guard !text.isEmpty else { throw .noAddresses }
        var ranges: [ProbeAddresses] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            ranges.append(try ProbeAddresses(part))
        }
        return ranges
    }

    /// `@…` at the end counts only behind the authority, and only if it is addresses.
    private static func url(_ word: String) throws(TargetFault) -> TargetWord {
        var text = Substring(word)
        var ranges: [ProbeAddresses] = []
        if let scheme = word.range(of: "://"),
            let path = word[scheme.upperBound...].firstIndex(where: { "/?#".contains($0) }),
            let at = word[path...].lastIndex(of: "@"),
            let found = try? addresses(word[word.index(after: at)...])
        {
            text = word[..<at]
            ranges = found
        }
        let url: HTTPURL
        do throws(URLFault) {
            url = try HTTPURL(String(text))
        } catch .host(.notASCII) {
            throw .notASCII(word, label: Punycode.name(hostPart(of: text)))
        } catch {
            throw .badURL(word, why: "\(error)")
        }
        guard url.user == nil else { throw .userInURL(word) }
        // Where the host is an address, that is where it is.
        if ranges.isEmpty, case .address(let address) = url.host { ranges = [ProbeAddresses(address)] }
        return .target(ProbeTarget(url), at: ranges)
    }

    /// What stands between the scheme and the port or the path; for a URL that cannot be read as one.
    private static func hostPart(of url: Substring) -> String {
        guard let scheme = String(url).range(of: "://") else { return "" }
        let authority = String(url)[scheme.upperBound...].prefix { !"/?#".contains($0) }
        return String(authority.split(separator: "@").last?.prefix { $0 != ":" } ?? "")
    }

    private static func host(_ word: String) throws(TargetFault) -> TargetWord {
        guard let at = word.firstIndex(of: "@") else { return try named(word, at: nil) }
        return try named(String(word[..<at]), at: addresses(word[word.index(after: at)...]))
    }

    /// `host`, `host:port`, or `host:port:IP` as curl writes it.
    private static func named(_ text: String, at ranges: [ProbeAddresses]?) throws(TargetFault) -> TargetWord
    {
        if let endpoint = try? Endpoint(text) {
            let target = ProbeTarget(host: .address(endpoint.address), port: endpoint.port ?? 443)
            // Where the host is an address, that is where it is.
            return .target(target, at: ranges ?? [ProbeAddresses(endpoint.address)])
        }
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        let host = try name(String(parts.first ?? ""))
        let port = parts.count > 1 ? try Self.port(parts[1]) : 443
        guard parts.count > 2 else { return .target(ProbeTarget(host: host, port: port), at: ranges ?? []) }
        guard ranges == nil else { throw .badHost(text, why: "it names its IPs twice") }
        return .target(ProbeTarget(host: host, port: port), at: try addresses(parts[2]))
    }

    private static func name(_ text: String) throws(TargetFault) -> Host {
        // One dot at the end says that the name is complete, and is no part of it.
        let bare = text.hasSuffix(".") && !text.hasSuffix("..") ? String(text.dropLast()) : text
        do throws(HostFault) {
            return .name(try DomainName(bare))
        } catch .notASCII {
            throw .notASCII(text, label: Punycode.name(bare))
        } catch .looksNumeric {
            throw .notAnAddress(text)
        } catch {
            throw .badHost(text, why: "\(error)")
        }
    }

    private static func port(_ text: Substring) throws(TargetFault) -> UInt16 {
        guard let port = UInt16(text), port > 0, text.allSatisfy({ $0.isASCII && $0.isNumber }) else {
            throw .badPort(String(text))
        }
        return port
    }
}

extension String {
    /// Where the text first stands in this one.
    fileprivate func range(of text: String) -> Range<String.Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
