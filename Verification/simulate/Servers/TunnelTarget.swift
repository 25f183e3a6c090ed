internal import DirectCore

/// The targets of programs behind a proxy of this machine.
extension World {
    /// Makes names resolvable, and addresses answer: each program's at its own port.
    func openTargets() {
        kernel.lookUp = { [unowned self] name in
            host(named: name).map { endpoints(ofHost: $0).map(\.address) } ?? []
        }
        kernel.misuses = { [unowned self] in fault("descriptors", $0) }
        kernel.accept = { [unowned self] connection, address, port in
            guard let place = place(of: address),
                let judge = TunnelJudge(self, number: TunnelLedger.program(ofPort: port))
            else {
                fault("address", "\(address):\(port) is no program's target")
                return .refused
            }
            judge.judgeDial(to: place)
            connection.place = place
            switch plan.hosts[place.host].addresses[place.address].fate {
            case .refuses: return .refused
            case .fails: return .failed
            case .silent: return .silent
            default: return .accepted { [self] in serve($0, with: judge) }
            }
        }
    }

    private func serve(_ connection: SimulatedConnection, with judge: TunnelJudge) {
        accepted[0].append(connection)
        connection.readsBeyondReset = true
        Task { [self] in
            let side = TunnelSide(self, connection, of: judge, isProgram: false)
            if side.program.road == .http { await side.serveHTTP() } else { await side.serveTunnel() }
            side.close()
        }
    }
}

extension TunnelSide {
    /// The other end of a tunnel. It begins when the program has said something: of the connections that are
    /// made at a time it does not know yet which is used.
    fileprivate func serveTunnel() async {
        await connection.kernel.waitForBytes(from: connection)
        let isUsed = connection.up.available > 0
        let sending = isUsed ? Task { await send() } : nil
        if isUsed { await receive() }
        await sending?.value
    }

    /// Serves the requests that the proxy forwards.
    fileprivate func serveHTTP() async {
        do throws(WireError) {
            while let head = try await http.head() {
                guard try await answer(head) else { return }
            }
        } catch {}
    }

    private func answer(_ head: ReceivedHead) async throws(WireError) -> Bool {
        let request = Int(head.target.dropFirst()) ?? -1
        judge.judgeArrival(ofRequest: request, on: connection)
        let name = world.name(ofProgram: judge.number)
        if head.value(of: "host") != name || !(0..<program.requests).contains(request) {
            judge.fault("target", "\(head.target) at \(head.value(of: "host") ?? "no host"), not \(name)")
        }
        if head.fields.contains(where: { $0.name.hasPrefix("proxy-") }) {
            judge.fault("secrets", "the target has got fields that are for the proxy")
        }
        let reader = UploadReader(http, of: head)
        while true {
            let bytes = try await reader.next(65_536)
            if bytes.isEmpty { break }
            judge.judge(bytes, isUp: true)
        }
        let framing = program.endsByClose ? "" : "Content-Length: \(program.down.size)\r\n"
        let answer = Array("HTTP/1.1 200 OK\r\n\(framing)\r\n".utf8)
        try await sendBytes(program.share(isUp: false), behind: answer)
        if program.down.ending == .ends, !program.endsByClose { return true }
        await end()
        return false
    }
}

extension World {
    /// What a program's target is for the program: a name or an address, and the port.
    func name(ofProgram number: Int) -> String {
        let port = TunnelLedger.port(ofProgram: number)
        guard let program = plan.tunnels?.programs[number] else { return "" }
        let first = address(0, ofHost: program.host)
        let host = program.namesAddress ? "\(first)" : Material.name(program.host)
        return program.namesAddress && first.family == .v6 ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
