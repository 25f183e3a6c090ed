internal import DirectCore
internal import DirectHTTP

/// The names of a certificate as text, and the reason why a similar name does not match the host.
struct ServedNames {
    private let certificate: ServedCertificate

    init(_ certificate: ServedCertificate) {
        self.certificate = certificate
    }

    /// The DNS names and IP addresses.
    var all: [String] { certificate.summary.dnsNames + certificate.summary.ipAddresses }

    /// The number of all names, with those that the summary omits.
    var count: Int { all.count + certificate.summary.omittedNames }

    /// Returns the first `limit` names, or the subject's common name if the certificate has no names.
    func first(_ limit: Int) -> String {
        let names = all
        guard !names.isEmpty else { return certificate.subject.short }
        return names.prefix(limit).joined(separator: ", ")
    }

    /// Returns why a name that is similar to the host does not match it, or `nil` if no name is similar.
    func nearMiss(_ host: HTTPHost) -> String? {
        switch host {
        case .address(let address): nearMiss(address)
        case .name(let name): nearMiss(name.text)
        }
    }

    private func nearMiss(_ address: IPAddress) -> String? {
        guard certificate.summary.ipAddresses.isEmpty else { return nil }
        if certificate.summary.dnsNames.contains(address.description) {
            return "\(address) is there as a DNS name, which does not count for an IP"
        }
        return "\(address) is an IP: the certificate has no IP SAN"
    }

    private func nearMiss(_ host: String) -> String? {
        if all.isEmpty, certificate.subject.short.lowercased() == host {
            return "CN=\(host) matches, but there is no SAN and the CN does not count"
        }
        for name in certificate.summary.dnsNames {
            let pattern = name.lowercased()
            if let reason = Self.nearMiss(pattern, host: host) { return reason }
        }
        return nil
    }

    private static func nearMiss(_ pattern: String, host: String) -> String? {
        if pattern.hasPrefix("*."), !pattern.dropFirst(2).isEmpty {
            let base = String(pattern.dropFirst(2))
            if host == base { return "\(pattern) covers the names below \(base), not \(base) itself" }
            if host.hasSuffix("." + base) {
                let labels = host.dropLast(base.count + 1).split(separator: ".").count
                return labels > 1 ? "\(pattern) covers one label, \(host) has \(count(labels))" : nil
            }
        }
        if host == "www." + pattern { return "\(pattern) is there, but not its www" }
        if pattern == "www." + host { return "only the www of \(host) is there" }
        return nil
    }

    private static func count(_ labels: Int) -> String { labels == 2 ? "two" : "\(labels)" }
}

extension ServedCertificate {
    /// Whether both dates can be parsed and this time lies between them.
    func isCurrent(at seconds: Int) -> Bool {
        guard let from = summary.notBefore, let until = summary.notAfter else { return false }
        return from <= seconds && seconds <= until
    }

    /// The seconds until the certificate expires. Negative if it has expired.
    func secondsLeft(at seconds: Int) -> Int? { summary.notAfter.map { $0 - seconds } }

    /// The whole days until the certificate expires, rounded down. Negative if it has expired.
    func daysLeft(at seconds: Int) -> Int? {
        secondsLeft(at: seconds).map { UTC.floored($0, divisor: 86_400) }
    }
}
