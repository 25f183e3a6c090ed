internal import DirectCore

/// The servers of a world: their addresses, and the fate of connections to them.
extension World {
    private var proxyAddress: IPAddress { Self.address(198, 51, 100, 1) }

    /// Makes names resolvable and addresses answer.
    func openServers() {
        if plan.tunnels != nil { return openTargets() }
        kernel.lookUp = { [unowned self] name in
            kernel.count("resolver: system lookup")
            if name == Material.proxyName { return [proxyAddress] }
            ResolverJudge(world: self).judgeSystem(name)
            guard let host = host(named: name) else { return [] }
            let addresses = plan.hosts[host].addresses.indices.map { address($0, ofHost: host) }
            if plan.resolvers != nil {
                // The system names no time, and the cache's settings have one for such answers.
                noteAnswer(addresses, ofHost: host, seconds: 30)
            }
            return addresses
        }
        kernel.misuses = { [unowned self] in fault("descriptors", $0) }
        kernel.accept = { [unowned self] connection, address, port in
            if address == proxyAddress {
                if plan.peers?.isProxyGone == true { return .refused }
                judgeBinding(of: connection)
                return .accepted { [self] in serveProxy($0, port: port) }
            }
            if let place = resolverPlace(of: address) {
                return acceptResolver(connection, at: place, port: port)
            }
            if address == Self.strayAddress, plan.resolvers != nil { return .refused }
            guard let place = place(of: address, port: port) else {
                fault("address", "\(address) belongs to no host")
                return .refused
            }
            if plan.hosts[place.host].hasSocket == true {
                fault("address", "\(address) was dialled instead of a socket")
            }
            judgeBinding(of: connection)
            if plan.client.proxy != .none, plan.peers?.exceptions?.covers(place.host) != true {
                fault("address", "\(address) was dialled past the proxy")
            }
            connection.place = place
            PoolJudge(world: self).judgeDial(to: place)
            ResolverJudge(world: self).judgeDial(to: address, ofHost: place.host)
            ResolverJudge(world: self).judgePort(port, ofHost: place.host)
            guard serves(port, of: place.host) else { return .refused }
            return fate(of: connection, at: place, port: port)
        }
        kernel.acceptLocal = { [unowned self] connection, path in
            guard let host = plan.hosts.indices.first(where: { socketPath(ofHost: $0) == path }) else {
                fault("address", "\(path) belongs to no host")
                return .refused
            }
            kernel.count("server: connection to a socket")
            let place = Place(host: host, address: 0)
            connection.place = place
            return fate(of: connection, at: place, port: self.port(host))
        }
        kernel.sees = { [unowned self] connection, bytes in
            lastSends[connection.number] = kernel.now
            connection.sentSinceRequest += bytes.count
            PoolJudge(world: self).judge(bytes, sentOn: connection)
        }
        if plan.encryption != nil {
            let judge = PathJudge(self)
            kernel.carries = { judge.judge($0, on: $1, isUp: $2) }
        }
        kernel.closes = { [unowned self] in PoolJudge(world: self).judgeClose(of: $0) }
        kernel.seesDatagram = { [unowned self] in ResolverJudge(world: self).judgeSending(of: $1, on: $0) }
        kernel.receiveDatagram = { [unowned self] socket, bytes in
            guard let place = socket.address.flatMap(resolverPlace) else { return }
            DNSServer(self, at: place)?.receive(bytes, on: socket)
        }
        kernel.disk.renames = { [unowned self] path, bytes in
            let owner = plan.calls.indices.lazy.compactMap { DownloadJudge(self, number: $0) }.first {
                $0.path == path
            }
            guard let owner else { return noteState(bytes, at: path, isAppended: false) }
            owner.judgeFile(bytes)
            renamed[path, default: []].append(bytes)
        }
        kernel.disk.appends = { [unowned self] in noteState($1, at: $0, isAppended: true) }
        for host in plan.hosts.indices {
            for address in plan.hosts[host].addresses.indices { scheduleChange(of: address, ofHost: host) }
        }
    }

    /// The Unix domain socket of a host.
    func socketPath(ofHost host: Int) -> String { "/run/host\(host).sock" }

    /// The address that the client binds its connections to.
    static let localAddress = address(192, 0, 2, 7)

    private func judgeBinding(of connection: SimulatedConnection) {
        kernel.count("judge: local address")
        let expected = plan.client.bindsAddress == true ? Self.localAddress : nil
        if connection.localAddress != expected {
            fault("address", "connection \(connection.number) is from another address than it should be")
        }
    }

    /// Whether the port is the one at which a secure host answers plain requests.
    func onlyRedirects(_ port: Int, of host: Int) -> Bool {
        port == 80 && plan.hosts[host].isSecure && plan.hosts[host].strictness != nil
    }

    /// Whether a host has a server at a port, and whether that speaks TLS.
    func serves(_ port: Int, of host: Int) -> Bool {
        port == self.port(host) || onlyRedirects(port, of: host)
            || port == ResolverPlan.recordPort
                && plan.resolvers?.bindings(ofHost: host).contains(.port) == true
    }

    func isSecure(_ port: Int, of host: Int) -> Bool {
        plan.hosts[host].isSecure && !onlyRedirects(port, of: host)
    }

    /// The host and the place of an address. Of two hosts with one name it is the one at the port.
    func place(of address: IPAddress, port: Int? = nil) -> Place? {
        let named = plan.hosts.indices.first {
            plan.hosts[$0].sharesName == true && plan.hosts[$0].port == port
        }
        for host in [named].compactMap(\.self) + plan.hosts.indices {
            for place in plan.hosts[host].addresses.indices where self.address(place, ofHost: host) == address
            {
                return Place(host: host, address: place)
            }
        }
        return nil
    }

    private func hasChanged(_ address: AddressPlan) -> Bool {
        kernel.now >= 1_000_000_000 + UInt64(address.changeTime) * 1000
    }

    private func fate(of connection: SimulatedConnection, at place: Place, port: Int) -> Kernel.Accepting {
        let address = plan.hosts[place.host].addresses[place.address]
        if address.fate != .works { kernel.count("fault: address \(address.fate)") }
        switch address.fate {
        case .refuses: return .refused
        case .fails: return .failed
        case .silent: return .silent
        case .dies: if hasChanged(address) { return .refused }
        case .appears: if !hasChanged(address) { return .refused }
        case .works, .closes, .freezes, .stops, .wrongCertificate, .unknownIssuer: break
        }
        return .accepted { [self] connection in
            accepted[place.host].append(connection)
            switch address.fate {
            case .closes: kernel.serverCloses(connection)
            case .freezes: break
            case .stops where hasChanged(address): connection.stop()
            default: serve(connection, at: place, port: port)
            }
        }
    }

    private func scheduleChange(of address: Int, ofHost host: Int) {
        let plan = plan.hosts[host].addresses[address]
        guard plan.fate == .dies || plan.fate == .stops else { return }
        let own = self.address(address, ofHost: host)
        kernel.after(nanoseconds: UInt64(plan.changeTime) * 1000) { [self] in
            for connection in accepted[host] where connection.address == own {
                if plan.fate == .dies { connection.reset() } else { connection.stop() }
            }
        }
    }

    private func serve(_ connection: SimulatedConnection, at place: Place, port: Int) {
        Task { [self] in
            let server = OriginServer(self, connection: connection, host: place.host, port: port)
            let address = plan.hosts[place.host].addresses[place.address]
            await server.serve(
                SocketWire(connection),
                certificate: Material.Certificate(of: address.fate),
                list: address.list
            )
        }
    }

    private func serveProxy(_ connection: SimulatedConnection, port: Int) {
        accepted[0].append(connection)
        Task { [self] in
            await ProxyServer(self, connection: connection).serve(SocketWire(connection), port: port)
        }
    }
}
