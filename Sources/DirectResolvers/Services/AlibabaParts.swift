internal import DirectCore
internal import DirectHTTP
internal import DirectIO

/// The parts that both versions of the interface share.
enum AlibabaSignature {
    /// The validity of a signed query in seconds. The service accepts up to ten minutes; the rest allows for
    /// clocks that differ.
    static let lifetime: Int64 = 300

    /// Throws unless the status is 200. The service sends an error's name in the member `code`.
    static func check(_ response: BufferedResponse) throws(ResolverError.Reason) {
        guard response.status != .ok else { return }
        var text = "HTTP status \(response.status.code)"
        if let part = try? JSONPart(response.body), let code = try? part.member("code").text() {
            text += ", \(shortened(code))"
        }
        throw .refused(text)
    }

    /// Returns the first 64 characters of a server's text with deceptive characters replaced, for use in a
    /// log line.
    static func shortened(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.prefix(64).map { scalar in
                    scalar.isDeceptive ? "\u{FFFD}" : scalar
                }
            )
        )
    }
}

/// Several names in one question, and the service's own list of servers.
enum AlibabaBatch {
    /// The highest number of names that the service takes.
    static let mostNames = 5

    static func list(_ hosts: [DomainName]) -> String { hosts.map(\.text).joined(separator: ",") }

    static func scheduleTarget(_ account: String) -> String { "/\(account.asQueryValue)/ss" }

    /// Reads `{"service_ip":[…],"service_ipv6":[…]}`.
    static func scheduledServers(_ response: BufferedResponse) throws(ResolverError.Reason) -> [IPAddress] {
        try AlibabaSignature.check(response)
        let root = try JSONPart(response.body)
        var servers: [IPAddress] = []
        for (member, family) in [("service_ip", IPAddress.Family.v4), ("service_ipv6", .v6)] {
            for part in try root.optional(member)?.elements() ?? [] {
                servers.append(try part.address(of: family))
            }
        }
        return servers
    }
}

/// The parameters of custom resolution (SDNS), which the account's own function on the server reads.
struct SDNSParameters: Sendable {
    var values: [String: String] = [:]

    /// Returns the parameters of the request, sorted by key.
    ///
    /// A key has letters, digits, `-` and `_`. A value has visible ASCII characters but `&`, which separates
    /// the parameters in the signed text. Errors do not quote them: they may say who the user is.
    func checked() throws(ResolverError.Reason) -> [(String, String)] {
        var parameters: [(String, String)] = []
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            guard !key.isEmpty, key.utf8.allSatisfy(Self.isOfKey) else {
                throw .refused("an SDNS key has a character other than letters, digits, - and _")
            }
            guard value.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "&") }) else {
                throw .refused("an SDNS value has a space, an & or a character that is not ASCII")
            }
            parameters.append(("sdns-\(key)", value))
        }
        return parameters
    }

    private static func isOfKey(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }
}
