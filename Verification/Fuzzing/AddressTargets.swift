import DirectCore
import Glibc

@testable import DirectHTTP

extension FuzzTarget {
    /// Addresses and endpoints.
    ///
    /// - Exactly the texts that `inet_pton` of the C library accepts are addresses, and have the same bytes,
    ///   with the exception of zones, which `inet_pton` does not know.
    /// - The text of an address or endpoint is read as the same value, and is its own normal form.
    /// - A literal that is no endpoint keeps its text and its error.
    static let address = FuzzTarget(name: "address") { choices in
        let text = choices.rest().text
        let address = IPAddress(text)
        if !text.contains("%"), !text.contains("\0") {
            requireEqual(address?.bytes, bytesOfTheLibrary(text), "inet_pton agrees")
        }
        if let address {
            requireEqual(IPAddress(address.description), address, "the text is the address")
            requireEqual(IPAddress(bytes: address.bytes), address.withoutZone, "the bytes are the address")
        }
        let literal = Endpoint(stringLiteral: text)
        guard let endpoint = try? Endpoint(text) else {
            require(literal.fault != nil && literal.description == text, "a wrong literal keeps its error")
            return
        }
        requireEqual(literal, endpoint, "a literal is read like text")
        requireEqual(try? Endpoint(endpoint.description), endpoint, "the text is the endpoint")
        require(endpoint.port != 0, "there is no port 0")
    }

    /// Static maps.
    ///
    /// - After any operations each host has the endpoints of the most specific entry of a simple list.
    /// - A map that is written in curl's format, and read from it, is the same map.
    /// - Any text is read as a map, in either format, or refused.
    static let map = FuzzTarget(name: "map") { choices in
        if choices.flag() {
            let text = choices.rest().text
            _ = try? StaticMap(
                curl: text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            )
            _ = StaticMap(hosts: text)
            return
        }
        var model = MapModel()
        while !choices.isEmpty { model.step(&choices) }
        model.compareWithText()
    }
}

private func bytesOfTheLibrary(_ text: String) -> [UInt8]? {
    for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
        var bytes = [UInt8](repeating: 0, count: count)
        if inet_pton(family, text, &bytes) == 1 { return bytes }
    }
    return nil
}

/// A map, and the same as a list.
private struct MapModel {
    private typealias Entry = (pattern: HostPattern, port: UInt16?, endpoints: [Endpoint])

    private var map = StaticMap()
    private var entries: [Entry] = []
    private var lines: [String] = []

    private static let patterns = [
        "*", "a.test", "*.a.test", "b.a.test", "*.b.a.test", "c.b.a.test", "test", "*.test", "xa.test",
        "192.0.2.1",
        "[2001:db8::1]", "*.c.b.a.test",
    ]
    private static let hosts = [
        "a.test", "b.a.test", "c.b.a.test", "d.c.b.a.test", "test", "xa.test", "x.xa.test", "192.0.2.1",
        "[2001:db8::1]", "other.example",
    ]
    private static let ports: [UInt16?] = [nil, 80, 443]
    private static let endpoints: [Endpoint] = ["192.0.2.7", "[2001:db8::7]:8443", "192.0.2.8:81"]

    mutating func step(_ choices: inout Choices) {
        let text = choices.pick(Self.patterns)
        let port = choices.pick(Self.ports)
        let count = choices.number(below: 4)
        let endpoints = (0..<count).map { _ in choices.pick(Self.endpoints) }
        guard let pattern = try? HostPattern(text) else { return require(false, "\(text) is a pattern") }
        entries.removeAll { $0.pattern == pattern && $0.port == port }
        let key = "\(text):\(port.map { "\($0)" } ?? "*")"
        if endpoints.isEmpty {
            map.remove(pattern, port: port)
            lines.append("-\(key)")
        } else {
            do { try map.set(endpoints, for: pattern, port: port) } catch { require(false, "\(error)") }
            entries.append((pattern, port, endpoints))
            lines.append("\(key):\(endpoints.map(\.description).joined(separator: ","))")
        }
        compare()
    }

    private func compare() {
        requireEqual(map.count, entries.count, "the number of entries")
        for text in Self.hosts {
            guard let host = try? HTTPHost(text) else { return require(false, "\(text) is a host") }
            for port in [80, 443, 8080] as [UInt16] {
                requireEqual(
                    map.endpoints(for: host, port: port),
                    expected(for: host, port: port),
                    "\(text):\(port)"
                )
            }
        }
    }

    func compareWithText() {
        requireEqual(try? StaticMap(curl: lines), map, "the map as text")
    }

    /// The endpoints of the most specific entry that applies.
    private func expected(for host: HTTPHost, port: UInt16) -> [Endpoint]? {
        let fit = entries.filter { ($0.port == nil || $0.port == port) && Self.applies($0.pattern, to: host) }
        return fit.max { Self.rank($0) < Self.rank($1) }?.endpoints
    }

    private static func applies(_ pattern: HostPattern, to host: HTTPHost) -> Bool {
        switch pattern {
        case .any: true
        case .host(let other): host == other
        case .subdomains(let name): host.description.hasSuffix(".\(name)")
        }
    }

    private static func rank(_ entry: Entry) -> Int {
        let ofPattern =
            switch entry.pattern {
            case .any: 0
            case .subdomains(let name): name.bytes.count
            case .host: 1000
            }
        return ofPattern * 2 + (entry.port == nil ? 0 : 1)
    }
}
