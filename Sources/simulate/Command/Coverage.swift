/// What a search has to reach: a judge that never judges, or a fault that never happens, proves nothing.
enum Coverage {
    private static let judges = [
        "Host", "address of a retry", "bytes at a time", "bytes of a response", "bytes of an upload",
        "cached response", "cancellation", "closing", "codings", "connections of an origin", "deadline",
        "descriptors", "executed once", "figures of a connection", "leaks", "retries", "reuse", "secrets",
        "server name", "shortage of descriptors", "siblings of a connection", "slow", "speed",
        "stale connection", "stall", "the client's own secret", "time of a proxy", "upload",
        "use of the cache", "user of a response", "wait for 100 (Continue)",
    ]

    private static let faults = [
        "full buffer", "half a session ticket", "idle connection closed", "no descriptor", "reset",
        "short send", "slow proxy", "upload not read",
    ]

    private static var names: [String] {
        ["client: input held back"] + judges.map { "judge: " + $0 } + faults.map { "fault: " + $0 }
            + AddressPlan.Fate.allCases.filter { $0 != .works }.map { "fault: address \($0)" }
            + ReplyPlan.Ending.allCases.filter { $0 != .complete }.map { "fault: reply \($0)" }
    }

    /// The number of worlds after which everything must have been reached.
    static let worlds = 5000

    /// Returns the names of what was never reached.
    static func missing(in counts: [String: Int]) -> [String] { names.filter { counts[$0] == nil } }
}
