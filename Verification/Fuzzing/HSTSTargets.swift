import DirectCore
import DirectHTTP1

@testable import DirectHTTP

extension FuzzTarget {
    /// `Strict-Transport-Security` fields, and the store that learns from them.
    ///
    /// - A policy, written in its plainest form, is read as the same policy.
    /// - After any responses the store upgrades exactly the hosts that a simple list upgrades, and never
    ///   addresses.
    /// - An upgraded URL is the same URL with https; port 80 becomes 443, any other port stays.
    static let hsts = FuzzTarget(name: "hsts") { choices in
        let count = choices.number(below: 8)
        let steps = (0..<count).map { _ in (choices.number(below: 6), choices.number(below: 8)) }
        let texts = choices.texts()
        var model = HSTSModel()
        for (index, (host, other)) in steps.enumerated() {
            let field = texts[(index + other) % texts.count]
            checkPolicy(field)
            model.learn(field, from: host, at: index)
        }
        model.compare(at: count)
    }

    /// HSTS files.
    ///
    /// - Any bytes are read; the lines that are no entries are reported, and no others.
    /// - What was read is written as text that is read as the same entries, and written as the same text.
    static let hstsFile = FuzzTarget(name: "hsts-file") { choices in
        // Later than the clock of any machine: `text` leaves out what has expired.
        let now = UnixTime(seconds: 5_000_000_000)
        let (store, copy) = (HSTSStore(), HSTSStore())
        let text = choices.rest()
        let faults = store.add(content: text, at: now)
        require(faults.count <= text.split(separator: 0x0A).count, "no more faults than lines")
        requireEqual(copy.add(content: store.text, at: now), [], "all that is written is read")
        requireEqual(copy.text, store.text, "the same text again")
        requireEqual(copy.entries(at: now).map(\.name), store.entries(at: now).map(\.name), "the same names")
    }
}

private func checkPolicy(_ field: [UInt8]) {
    guard let policy = HSTSPolicy(field) else { return }
    require(policy.maximumAge >= 0, "no negative age")
    let plain = "max-age=\(policy.maximumAge)\(policy.includesSubdomains ? "; includeSubDomains" : "")"
    requireEqual(HSTSPolicy(Array(plain.utf8)), policy, "the plainest form")
    require(field.text.lowercased().contains("max-age"), "no policy without max-age")
}

/// A store, and the same as a list.
private struct HSTSModel {
    private let store = HSTSStore()
    private var entries: [String: (end: Int64, isBelow: Bool)] = [:]

    private static let hosts = ["a.test", "b.a.test", "c.b.a.test", "xa.test", "192.0.2.1", "test"]

    mutating func learn(_ field: [UInt8], from index: Int, at time: Int) {
        guard let host = try? HTTPHost(Self.hosts[index]) else { return require(false, "a host") }
        var headers = HTTPHeaders()
        headers.add("Strict-Transport-Security", bytes: field)
        store.learn(from: headers, host: host, at: UnixTime(seconds: Int64(time)))
        guard host.name != nil, let policy = HSTSPolicy(field) else { return }
        let (end, overflow) = policy.maximumAge.addingReportingOverflow(Int64(time))
        let entry = (end: overflow ? .max : end, isBelow: policy.includesSubdomains)
        entries[Self.hosts[index]] = policy.maximumAge == 0 ? nil : entry
    }

    func compare(at time: Int) {
        for name in Self.hosts + ["x.a.test", "y.xa.test"] {
            for port in [80, 443, 8080] {
                guard let url = try? HTTPURL("http://u:p@\(name):\(port)/p?q#f") else { continue }
                let upgraded = store.upgrades(url, at: UnixTime(seconds: Int64(time)))
                requireEqual(upgraded != nil, isKnown(name, at: Int64(time)), "\(name) is known or not")
                guard let upgraded else { continue }
                requireEqual(
                    upgraded,
                    try? HTTPURL("https://u:p@\(name):\(port == 80 ? 443 : port)/p?q#f"),
                    "URL"
                )
            }
        }
    }

    private func isKnown(_ name: String, at time: Int64) -> Bool {
        entries.contains { known, entry in
            entry.end > time && (known == name || entry.isBelow && name.hasSuffix(".\(known)"))
        }
    }
}
