internal import DirectCore

/// The URLs, addresses and secrets of a world.
extension World {
    /// The password of the proxy. No server may see it.
    static let proxySecret = "proxy-secret"

    static let proxyUser = "user-of-proxy"

    /// What only this host may see.
    func secret(ofHost host: Int) -> String { "secret-of-host\(host)" }

    /// A login with Basic, whose characters are not all of ASCII.
    static let login = (user: "Jürgen", password: "pä:€\u{1F511}")

    /// The field of that login (RFC 7617, section 2.1).
    static let loginField = "Basic " + Base64.encode(Array("\(login.user):\(login.password)".utf8))

    /// What only the servers of the origin may see that a call begins at.
    static let clientSecret = "secret-of-client"

    /// The URL of the call's own resource at a host.
    func url(ofHost host: Int, call: Int) -> String { origin(host) + "/\(call)" }

    /// The URL that the caller asks for.
    func url(ofCall number: Int) -> String {
        let host = plan.calls[number].host
        let start = plan.calls[number].isPlain == true ? "http://\(authority(host))" : origin(host)
        return start + path(ofCall: number)
    }

    func path(ofCall number: Int) -> String {
        if let download = plan.calls[number].download { return "/file/\(download.file)" }
        return plan.calls[number].resource.map { "/shared/\($0)" } ?? "/\(number)"
    }

    func origin(_ host: Int) -> String {
        "\(plan.hosts[host].isSecure ? "https" : "http")://\(authority(host))"
    }

    func port(_ host: Int) -> Int { plan.hosts[host].port ?? (plan.hosts[host].isSecure ? 443 : 80) }

    func name(_ host: Int) -> String { Material.name(plan.owner(ofHost: host)) }

    /// What the Host field of a request says.
    func authority(_ host: Int) -> String {
        name(host) + (plan.hosts[host].port.map { ":\($0)" } ?? "")
    }

    /// The user that the call is made for, as an interceptor below the cache adds it.
    func user(ofCall number: Int) -> String { "User \(number % 2)" }

    /// Notes an answer that a resolver gives.
    func noteAnswer(_ addresses: [IPAddress], ofHost host: Int, seconds: Int) {
        givenAnswers.append(GivenAnswer(host: host, addresses: addresses, seconds: seconds, time: kernel.now))
    }

    func host(named name: String) -> Int? {
        let hosts = plan.hosts.indices
        return hosts.first { authority($0) == name } ?? hosts.first { self.name($0) == name }
    }

    func endpoints(ofHost host: Int) -> [Endpoint] {
        plan.hosts[host].addresses.indices.map { Endpoint(address($0, ofHost: host)) }
    }

    /// The address of a place in a host's list.
    func address(_ place: Int, ofHost host: Int) -> IPAddress {
        let isV6 = plan.hosts[host].addresses[place].isV6
        let (last, owner) = (UInt8(place + 1), UInt8(plan.owner(ofHost: host)))
        return isV6
            ? Self.address(0x20, 1, 0xD, 0xB8, 0, 0, 0, owner, 0, 0, 0, 0, 0, 0, 0, last)
            : Self.address(203, 0, owner, last)
    }

    static func address(_ bytes: UInt8...) -> IPAddress {
        guard let address = IPAddress(bytes: bytes) else { fatalError("an address has 4 or 16 bytes") }
        return address
    }
}
