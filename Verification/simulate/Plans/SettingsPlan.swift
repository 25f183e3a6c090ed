/// Settings that the client reads from files, and what befalls these files.
struct SettingsPlan: Codable, Equatable {
    enum FileChange: String, Codable, CaseIterable {
        /// The certificate, or its key, becomes the other one's: one without the other is no pair.
        case otherChain, otherKey
        /// The certificate, its key or the roots are only half written.
        case halfChain, halfKey, halfRoots
        /// No read of any of them ends, until they are whole.
        case hangs
        /// Each read brings a few bytes, after a while: they change between two reads.
        case slow
        /// All are as at first.
        case whole
    }

    struct FileEvent: Codable, Equatable {
        var time = 0
        var change = FileChange.whole
    }

    var hasIdentity = true
    var hasRoots = true
    var events: [FileEvent] = []
}

extension Plan {
    /// The client reads its roots, its certificate and its map from files that others write meanwhile.
    mutating func readSettings(_ dice: inout Dice) {
        guard keeping == nil, disk == nil, resolvers == nil, client.proxy != .https, client.hedging == nil,
            !hasUsers
        else { return }
        if dice.chance(70) { calmDown() }
        (client.acceptsAnyCertificate, client.idleTimeout) = (nil, dice.one(of: [10_000, 10_000, nil]))
        // Connections without the client's certificate are counted apart.
        client.perOrigin = nil
        for host in hosts.indices { (hosts[host].isSecure, hosts[host].asksForIdentity) = (true, true) }
        var drawn = SettingsPlan(hasIdentity: dice.chance(75))
        drawn.hasRoots = !drawn.hasIdentity || dice.chance(60)
        let begin = dice.one(of: [0, 50_000, 300_000])
        var pause = dice.one(of: [1000, 200_000, 2_000_000, 20_000_000])
        let changes: [SettingsPlan.FileChange] =
            switch dice.below(6) {
            case 0: [.otherChain, .otherKey]
            case 1: [.otherKey, .otherChain]
            case 2: [dice.one(of: [.halfChain, .halfKey, .halfRoots]), .whole]
            case 3: [.hangs, .whole]
            case 4: [.slow, .otherChain, .otherKey]
            default: (0..<dice.number(in: 1...4)).map { _ in dice.one(of: SettingsPlan.FileChange.allCases) }
            }
        if changes.first == .hangs { pause = dice.one(of: [500_000, 5_000_000, 20_000_000]) }
        drawn.events = changes.enumerated().map {
            SettingsPlan.FileEvent(time: begin + $0 * pause, change: $1)
        }
        settings = drawn
        for call in calls.indices {
            (calls[call].isPlain, calls[call].cancellation) = (nil, nil)
            calls[call].start = dice.one(of: [0, 40_000, 400_000, 3_000_000])
        }
    }
}
