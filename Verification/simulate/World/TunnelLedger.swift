/// What is seen of the programs behind a proxy, at both ends of each tunnel.
final class TunnelLedger {
    /// One direction of a program's tunnel, or of its requests.
    struct Direction {
        /// The bytes that its sender has begun to send, and those that have come out.
        var sent = 0
        var received = 0
        /// Whether the sender has ended its sending, and whether the receiver has seen an end.
        var isFinished = false
        var hasEnded = false
    }

    struct Program {
        var up = Direction()
        var down = Direction()
        /// The status of the last answer of the proxy or its target; in SOCKS 200 for a tunnel.
        var answer: Int?
        /// The number of requests whose heads it has sent whole.
        var asked = 0
        /// The connections to which each of its requests, or its tunnel, has come.
        var connections: [Int: Set<Int>] = [:]
        var reports: [Report] = []
        /// Whether it has ended its own connection itself before an answer.
        var hasLeft = false

        subscript(isUp: Bool) -> Direction {
            get { isUp ? up : down }
            set { if isUp { up = newValue } else { down = newValue } }
        }
    }

    /// What the proxy has reported of a tunnel or a request.
    struct Report {
        var isRefused = false
        var isComplete = false
        var address: String?
        var sent = 0
        var received = 0
    }

    var programs: [Program]
    /// The number of reports of programs that had shown no right to use the proxy.
    var strangers = 0

    init(count: Int) {
        programs = Array(repeating: Program(), count: count)
    }

    /// The program of a port.
    static func program(ofPort port: Int) -> Int { port - firstPort }
    static func port(ofProgram number: Int) -> Int { firstPort + number }
    private static let firstPort = 9000
}
