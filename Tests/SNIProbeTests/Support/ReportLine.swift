import DirectJSON

@testable import SNIProbe

/// A line of JSON output with the members that a report reads.
struct ReportLine {
    var time = "2026-11-21T05:40:00.123Z"
    var host = "www.example.com"
    var ip: String? = "203.0.113.1"
    var url: String?
    var source = "argument"
    var faults: [(id: String, text: String)] = []
    var warnings: [(id: String, text: String)] = []
    var hint: String?
    var advice: String?
    var verdict = "needed"
    var defaultName = "default.example.net"
    var hash: String? = String(repeating: "30bfcbf8", count: 8)
    var name = "www.example.com"
    var issuer = "CN=CA"
    var dates = ("2026-10-01T00:00:00Z", "2027-02-12T00:00:00Z")
    /// The addresses that each resolver gives.
    var resolvers: [(name: String, addresses: [String])] = []

    var bytes: [UInt8] { Array(value.description.utf8) }

    var entry: ReportEntry? { ReportEntry(bytes) }

    private var value: JSONValue {
        [
            ("v", .number(1)), ("time", .string(time)), ("host", .string(host)), ("ip", text(ip)),
            ("port", .number(443)), ("url", text(url)), ("source", .string(source)),
            ("ok", .bool(faults.isEmpty)), ("faults", issues(faults)), ("warnings", issues(warnings)),
            ("hint", text(hint)), ("advice", text(advice)), ("sni", serverName), ("certificate", certificate),
            ("resolvers", resolvers.isEmpty ? .null : .array(resolvers.map(reply))),
        ].object
    }

    private var serverName: JSONValue {
        let names = JSONValue.array([.string(defaultName)])
        return [("verdict", .string(verdict)), ("without", [("names", names)].object)].object
    }

    private var certificate: JSONValue {
        guard let hash else { return .null }
        return [
            ("sha256", .string(hash)), ("names", .array([.string(name)])), ("ips", .array([])),
            ("names_count", .number(1)), ("issuer", .string(issuer)), ("not_before", .string(dates.0)),
            ("not_after", .string(dates.1)),
        ].object
    }

    private func reply(_ name: String, _ addresses: [String]) -> JSONValue {
        [
            ("resolver", .string(name)), ("gives_ip", .bool(ip.map(addresses.contains) ?? false)),
            ("addresses", .array(addresses.map(JSONValue.string))), ("ttl", .number(60)), ("error", .null),
        ].object
    }

    private func text(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }

    private func issues(_ issues: [(id: String, text: String)]) -> JSONValue {
        .array(issues.map { [("id", .string($0.id)), ("text", .string($0.text))].object })
    }
}

extension [(String, JSONValue)] {
    fileprivate var object: JSONValue { .object(members: self) }
}
