internal import CSimulation
internal import DirectCore
internal import DirectHTTP

/// The files of the client's settings, as the plan changes them.
final class SettingsFiles {
    /// What they were since a time.
    struct State {
        var since: UInt64 = 0
        /// The number of the certificate, and that of its key; 0 for one that is half written.
        var chain = 1
        var key = 1
        var hasRoots = true
        var hangsUntil: UInt64?
        var isSlow = false

        var identity: Int? { chain == key && chain > 0 ? chain : nil }
        var isWhole: Bool { identity != nil && hasRoots && hangsUntil == nil }
    }

    private(set) var states = [State()]
    private let kernel: Kernel
    private let plan: SettingsPlan

    init(_ plan: SettingsPlan, _ kernel: Kernel) {
        (self.plan, self.kernel) = (plan, kernel)
        write(states[0])
        for event in plan.events {
            kernel.after(delay: UInt64(event.time) * 1000) { [unowned self] in change(event.change) }
        }
    }

    private static func path(_ name: String) -> String { String(cString: sim_folder()) + name }

    /// The addresses of hosts, which the program reads before it makes its client.
    func map(_ hosts: [(name: String, endpoints: [Endpoint])]) throws(StaticMapError) -> StaticMap {
        let file = kernel.disk.makeFile()
        let lines = hosts.flatMap { host in host.endpoints.map { "\($0.address) \(host.name) # \($0)\n" } }
        file.bytes = Array(("# hosts\n\nno address\n" + lines.joined()).utf8)
        kernel.disk.set(file, at: Self.path("hosts"))
        return try StaticMap(hostsFile: Self.path("hosts"))
    }

    /// The settings of the client that come from files.
    func set(_ tls: inout TLSSettings) {
        if plan.hasRoots { tls.roots = .only([.pemFile(Self.path("roots"))]) }
        guard plan.hasIdentity else { return }
        tls.clientIdentity = .files(certificateChain: Self.path("chain"), privateKey: Self.path("key"))
    }

    private func change(_ change: SettingsPlan.FileChange) {
        kernel.count("fault: file of settings, \(change)")
        guard var state = states.last else { return }
        state.since = kernel.now
        switch change {
        case .otherChain: state.chain = 2
        case .otherKey: state.key = 2
        case .halfChain: state.chain = 0
        case .halfKey: state.key = 0
        case .halfRoots: state.hasRoots = false
        case .hangs:
            let end = plan.events.lazy.map { 1_000_000_000 + UInt64($0.time) * 1000 }.first {
                $0 > kernel.now
            }
            state.hangsUntil = end ?? kernel.now + 100_000_000_000
        case .slow: state.isSlow = true
        case .whole: state = State(since: kernel.now)
        }
        if change != .hangs, let end = state.hangsUntil, end <= kernel.now { state.hangsUntil = nil }
        states.append(state)
        write(state)
    }

    /// Writes the files in place: they are no others.
    private func write(_ state: State) {
        let (identities, roots) = (Material.shared.identities, Array(Material.shared.rootsPEM.utf8))
        func part(_ number: Int, _ bytes: (ClientIdentity) -> [UInt8]) -> [UInt8] {
            let whole = bytes(identities[max(0, number - 1)])
            return number > 0 ? whole : Array(whole.prefix(whole.count / 2))
        }
        let files = [
            "chain": part(state.chain, \.certificateChain), "key": part(state.key, \.privateKey),
            "roots": state.hasRoots ? roots : Array(roots.dropLast(100)),
        ]
        for (name, bytes) in files.sorted(by: { $0.key < $1.key }) {
            let path = Self.path(name)
            let file = kernel.disk.files[path] ?? kernel.disk.makeFile()
            (file.bytes, file.settled) = (bytes, bytes)
            if kernel.disk.files[path] == nil { kernel.disk.set(file, at: path) }
        }
        (kernel.hangsUntil, kernel.disk.isSlow) = (state.hangsUntil ?? 0, state.isSlow)
    }

    // MARK: For judges

    private func states(from begin: UInt64, to end: UInt64) -> [State] {
        states.enumerated().filter { place, state in
            state.since <= end && (place + 1 == states.count || states[place + 1].since >= begin)
        }.map(\.element)
    }

    /// The certificates that a connection may show: that of its time, or a former one while the files cannot
    /// be used. `nil` if none is in files.
    func identities(of connection: SimulatedConnection, in world: World) -> [Int]? {
        guard plan.hasIdentity else { return nil }
        // They are read once for all addresses that a call tries, and a proxy may be slow.
        let connect = connection.times.connect
        let begins = world.calls.filter { $0.end.map { $0 >= connect } ?? true }.compactMap(\.start)
        let begin = min(begins.min() ?? connect, connect)
        let current = states(from: begin - min(begin, world.slack), to: kernel.now)
        let isHard = current.contains { !$0.isWhole }
        return (isHard ? states.filter { $0.since <= kernel.now } : current).compactMap(\.identity)
    }

    /// Whether the client, which has used them and the certificate since a time, may have found them unusable
    /// in another one.
    func mayFail(
        from begin: UInt64,
        to end: UInt64,
        knownSince known: UInt64,
        identitySince shown: UInt64
    ) -> Bool {
        states(from: begin, to: end).contains { state in
            let lacksRoots = plan.hasRoots && !state.hasRoots
            let lacksIdentity = plan.hasIdentity && state.identity == nil
            return known >= state.since && (lacksRoots || state.hangsUntil != nil)
                || shown >= state.since && lacksIdentity
        }
    }

    var mayHang: Bool { states.contains { $0.hangsUntil != nil } }
}
