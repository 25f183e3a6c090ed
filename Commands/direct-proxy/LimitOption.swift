internal import DirectProxy

/// The value of `--limit`: a limit by the name that it has in the library, and in what the proxy answers when
/// it is reached.
enum LimitOption: String, CaseIterable {
    case tunnels, waiting, headBytes, head, dial, idle, halfClosed, drain

    /// Sets the limit that a value such as `idle=600` names.
    static func set(_ value: String, in limits: inout LocalProxy.Limits) throws(Mistake) {
        let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init
        )
        guard parts.count == 2, let limit = LimitOption(rawValue: parts[0]) else {
            let names = allCases.map(\.rawValue).joined(separator: ", ")
            throw Mistake(line: "--limit \(value): it takes NAME=NUMBER, and the names are \(names)")
        }
        switch limit {
        case .tunnels: limits.tunnels = try count(parts[1], of: limit)
        case .waiting: limits.waiting = try count(parts[1], of: limit)
        case .headBytes: limits.headBytes = try count(parts[1], of: limit)
        case .head: limits.head = try time(parts[1], of: limit)
        case .dial: limits.dial = try time(parts[1], of: limit)
        case .idle: limits.idle = try time(parts[1], of: limit)
        case .halfClosed: limits.halfClosed = try time(parts[1], of: limit)
        case .drain: limits.drain = try time(parts[1], of: limit)
        }
    }

    private static func count(_ text: String, of limit: LimitOption) throws(Mistake) -> Int {
        guard let count = Int(text), 1...100_000_000 ~= count else {
            throw Mistake(line: "--limit \(limit.rawValue)=\(text): it takes a number from 1")
        }
        return count
    }

    private static func time(_ text: String, of limit: LimitOption) throws(Mistake) -> Duration {
        guard let seconds = Double(text), 0...100_000_000 ~= seconds else {
            throw Mistake(line: "--limit \(limit.rawValue)=\(text): it takes seconds")
        }
        return .seconds(seconds)
    }
}
