internal import DirectCore
internal import DirectLookup
internal import DirectProxy
internal import DirectTransport

/// A proxy of this machine (DirectProxy) with its programs, in place of a client and its callers.
final class ProxyStage: @unchecked Sendable {
    private let world: World
    private let plan: TunnelPlan
    private var proxy: LocalProxy?
    private var left: Int
    private(set) var isDone = false

    init(_ world: World, _ plan: TunnelPlan) {
        (self.world, self.plan, left) = (world, plan, plan.programs.count)
    }

    /// Starts the proxy and its programs. A socket to listen may be refused.
    func begin() {
        let proxy = LocalProxy(settings)
        world.watch(proxy)
        self.proxy = proxy
        for _ in 0..<20 where proxy.endpoints.isEmpty { try? proxy.start() }
        guard let port = proxy.endpoints.first?.port else { return isDone = true }
        let credentials = proxy.credentials
        for number in plan.programs.indices {
            Task {
                await run(number, at: port, credentials)
                left -= 1
                if left == 0 { await stop() }
            }
        }
        if let time = plan.stop {
            world.kernel.after(nanoseconds: UInt64(time) * 1000) { Task { await self.stop() } }
        }
    }

    private func run(_ number: Int, at port: UInt16, _ credentials: Proxy.Credentials?) async {
        let program = plan.programs[number]
        world.kernel.count("caller: program by \(program.road)")
        await world.kernel.sleep(microseconds: program.start)
        guard let judge = TunnelJudge(world, number: number),
            let connection = await world.kernel.connect(toProgramAt: port)
        else { return }
        let side = TunnelSide(world, connection, of: judge, isProgram: true)
        await TunnelProgram(side, credentials: credentials).run()
    }

    /// Stops the proxy. All connections are closed then, at the end of the limit at the latest.
    private func stop() async {
        guard let proxy else { return }
        self.proxy = nil
        let start = world.kernel.now
        await proxy.stop()
        world.kernel.count("judge: end of a proxy")
        let time = world.kernel.now - start
        if time > UInt64(plan.drain) * 1000 + 500_000_000 { world.fault("stop", "it took \(time)") }
        if !world.kernel.connections.isEmpty || proxy.tunnelCount > 0 {
            world.fault("stop", "\(world.kernel.connections.count) connections are left")
        }
        isDone = true
    }

    private var settings: LocalProxySettings {
        var settings = LocalProxySettings()
        settings.loop = world.loop
        settings.access = plan.asksForCredentials ? .credentials : .anyLocalProgram
        settings.others = plan.refusesOthers ? .refused : .dialled
        for host in world.plan.hosts.indices.prefix(plan.mapped) {
            guard let pattern = try? HostPattern(Material.name(host)) else { continue }
            try? settings.addresses.set(world.endpoints(ofHost: host), for: pattern)
        }
        if plan.hasResolver { settings.resolver = WorldResolver(world: world) }
        settings.limits.idle = .microseconds(plan.idle)
        settings.limits.halfClosed = .microseconds(plan.halfClosed)
        settings.limits.drain = .microseconds(plan.drain)
        settings.limits.tunnels = plan.most
        settings.onEvent = { [unowned world] in if case .ended(let report) = $0 { world.note(report) } }
        return settings
    }
}

extension World {
    fileprivate func note(_ report: TunnelReport) {
        guard let target = report.target else { return tunnels.strangers += 1 }
        let port = target.split(separator: ":").last.flatMap { Int($0) } ?? 0
        let number = TunnelLedger.program(ofPort: port)
        guard tunnels.programs.indices.contains(number), target == name(ofProgram: number) else {
            return fault("report", "of \(target)")
        }
        var noted = TunnelLedger.Report(sent: Int(report.sent), received: Int(report.received))
        if case .refused = report.ending { noted.isRefused = true }
        (noted.isComplete, noted.address) = (
            report.ending == .complete, report.endpoint.map { "\($0.address)" }
        )
        tunnels.programs[number].reports.append(noted)
    }
}
