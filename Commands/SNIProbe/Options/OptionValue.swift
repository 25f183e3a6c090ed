internal import DirectCore
internal import DirectHTTP

/// The value of an option, parsed as the type that the option needs.
struct OptionValue {
    private let option: String
    private let text: String

    init(_ option: CommandOption, _ text: String) {
        self.option = "--" + option.long
        self.text = text
    }

    /// Returns the value as a number in this range.
    func number(in range: ClosedRange<Int>) throws(UsageError) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw bad("a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// The value as probes per second. It may be below one.
    var rate: Double {
        get throws(UsageError) {
            guard let rate = Double(text), rate > 0, rate <= 1_000_000 else { throw bad("a number above 0") }
            return rate
        }
    }

    /// The value as a duration: `500ms`, `5s`, `2m`, `1h`. A number without a unit is in seconds.
    var duration: Duration {
        get throws(UsageError) {
            let digits = text.prefix { $0.isNumber || $0 == "." }
            let units = ["": 1.0, "ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600]
            guard let number = Double(digits), let unit = units[String(text.dropFirst(digits.count))],
                number * unit >= 0.001, number * unit <= 86_400
            else { throw bad("a time such as 500ms, 5s or 2m") }
            return .milliseconds(Int64(number * unit * 1000))
        }
    }

    /// The value as the IP and the port of a proxy, as it may stand in a variable of the environment.
    var proxy: Endpoint {
        get throws(UsageError) {
            let bare = text.hasPrefix("http://") ? text.dropFirst(7) : text[...]
            let endpoint = try? Endpoint(String(bare.hasSuffix("/") ? bare.dropLast() : bare))
            guard let endpoint, endpoint.port != nil else {
                throw bad("the IP and the port of an HTTP proxy, such as 192.0.2.8:3128")
            }
            return endpoint
        }
    }

    /// The value as an IP and a port to listen at.
    var listener: Endpoint {
        get throws(UsageError) {
            // Port 0, which is no port of an endpoint, lets the system choose.
            let isFree = text.hasSuffix(":0")
            let endpoint = try? Endpoint(String(isFree ? text.dropLast(2) : text[...]))
            guard let endpoint, isFree != (endpoint.port != nil) else {
                throw bad("an IP and a port such as 127.0.0.1:9115")
            }
            return endpoint
        }
    }

    /// The value as a choice of colours.
    var color: ColorChoice {
        get throws(UsageError) {
            guard let choice = ColorChoice(rawValue: text) else { throw bad("auto, always or never") }
            return choice
        }
    }

    /// The value as a TLS version.
    var tlsVersion: ClosedRange<TLSVersion> {
        get throws(UsageError) {
            switch text {
            case "1.2": .tls12 ... .tls12
            case "1.3": .tls13 ... .tls13
            default: throw bad("1.2 or 1.3")
            }
        }
    }

    /// The value as a DNS name for SNI.
    var name: String {
        get throws(UsageError) {
            guard IPAddress(text) == nil else {
                throw UsageError(
                    "\(option) takes a name, and \(quoted(text)) is an address",
                    hint: "addresses are never sent as SNI; --no-sni sends none"
                )
            }
            // A trailing dot marks a fully qualified name and is not part of it.
            let bare = text.hasSuffix(".") && !text.hasSuffix("..") ? String(text.dropLast()) : text
            do throws(HTTPHostError) {
                return try DomainName(bare).text
            } catch .notASCII {
                throw UsageError(TargetError.notASCII(text))
            } catch {
                throw UsageError("\(option): \(quoted(text)): \(error)")
            }
        }
    }

    /// The value as a header field. Fields that control the framing of the message are rejected: the library
    /// writes them.
    var field: (name: String, value: String) {
        get throws(UsageError) {
            guard let colon = text.firstIndex(of: ":") else { throw bad("'NAME: VALUE'") }
            let name = String(text[..<colon])
            let value = text[text.index(after: colon)...].drop { $0 == " " }
            guard !name.isEmpty, name.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }),
                value.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F || $0 == "\t" })
            else { throw bad("'NAME: VALUE'") }
            let owned = ["host", "content-length", "transfer-encoding", "connection", "expect", "upgrade"]
            guard !owned.contains(name.lowercased()) else {
                let isHost = name.lowercased() == "host"
                throw UsageError(
                    "\(option): \(name) is written by sni-probe itself",
                    hint: isHost
                        ? "the host of the URL is what Host says; to send another SNI use --sni" : nil
                )
            }
            return (name, String(value))
        }
    }

    /// The secret that the value names: a file, or a variable of the environment. The value itself is not
    /// repeated: it may be the secret.
    var secret: String {
        get throws(UsageError) {
            if text.hasPrefix("file:") { return try UserFiles.secret(at: String(text.dropFirst(5))) }
            guard text.hasPrefix("env:") else {
                let hint = "other users of this machine could read it on the command line"
                throw UsageError("\(option) takes file:PATH or env:NAME", hint: hint)
            }
            guard let value = Console.variable(String(text.dropFirst(4))) else {
                throw UsageError("\(option): there is no such variable in the environment")
            }
            return value
        }
    }

    /// The value as protocols for ALPN, separated by commas.
    var protocols: [String] {
        get throws(UsageError) {
            let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard
                names.allSatisfy({
                    (1...255).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x21..<0x7F).contains($0) }
                })
            else { throw bad("protocols such as h2,http/1.1") }
            return names
        }
    }

    /// The value as ranges of status codes: `200`, `200-399`, `200,301-308`.
    var statusRanges: StatusRanges {
        get throws(UsageError) {
            var ranges: [ClosedRange<UInt16>] = []
            for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                let ends = part.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map {
                    UInt16($0)
                }
                guard let low = ends.first ?? nil, let high = ends.last ?? nil, 100...999 ~= low,
                    100...999 ~= high,
                    low <= high
                else { throw bad("statuses such as 200,301-308") }
                ranges.append(low...high)
            }
            return StatusRanges(ranges: ranges)
        }
    }

    /// The value as `K/N` with 1 ≤ K ≤ N.
    var shard: Options.Shard {
        get throws(UsageError) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
            guard parts.count == 2, let number = parts[0], let count = parts[1], count >= 1,
                count <= 1_000_000,
                (1...count).contains(number)
            else { throw bad("K/N, such as 2/8") }
            return Options.Shard(number: number, count: count)
        }
    }

    /// The value as a hash, a pin, or a certificate file.
    var expected: [ExpectedCertificate] {
        get throws(UsageError) {
            if text.hasPrefix("sha256:") {
                let digits = text.dropFirst(7).filter { $0 != ":" }
                guard let hash = Hex.decode(digits), hash.count == 32 else {
                    throw bad("sha256: and 64 hexadecimal digits")
                }
                return [.certificate(hash)]
            }
            let pin =
                text.hasPrefix("pin-sha256:")
                ? text.dropFirst(11) : text.hasPrefix("sha256//") ? text.dropFirst(8) : nil
            if let pin {
                guard let hash = Base64.decode(pin), hash.count == 32 else {
                    throw bad("pin-sha256: and the base64 of 32 bytes")
                }
                return [.key(hash)]
            }
            if let hash = Self.fingerprint(text) { return [.certificate(hash)] }
            let certificates = try CertificateFiles.certificates(at: text)
            return certificates.prefix(1).map { .certificate($0.summary.sha256) }
        }
    }

    /// Reads a SHA-256 hash as openssl writes it: `sha256 Fingerprint=AB:CD:…`, or the part after the equals
    /// sign.
    private static func fingerprint(_ text: String) -> [UInt8]? {
        var digits = Substring(text)
        if let equals = text.firstIndex(of: "="), text[..<equals].lowercased() == "sha256 fingerprint" {
            digits = text[text.index(after: equals)...]
        }
        let groups = digits.split(separator: ":", omittingEmptySubsequences: false)
        guard groups.count == 32, groups.allSatisfy({ $0.count == 2 }) else { return nil }
        return Hex.decode(groups.joined())
    }

    private func bad(_ wanted: String) -> UsageError {
        UsageError("\(option) takes \(wanted), not \(quoted(text))")
    }
}
