internal import DirectHTTP

/// The causes that have reached a call: what has happened to its connections, at its addresses and to
/// itself. They are looked for when the world is over.
///
/// What else is in the world is no excuse for a call, however much of it there is. And a cause explains
/// errors of its own kinds only: a reset is no reason for a call to end with a time limit.
struct Reasons {
    let world: World
    let number: Int
    var plan: Plan { world.plan }
    var call: CallPlan { plan.calls[number] }
    var state: World.CallState { world.calls[number] }
    var start: UInt64 { state.start ?? 0 }
    var end: UInt64 { state.end ?? world.kernel.now }
    /// The replies that servers have begun to send.
    var replies: [ReplyPlan] { state.tries.map(\.reply) }
    /// The hosts that the call has asked, or could have asked.
    var hosts: Set<Int> {
        Set([call.host] + replies.filter { (300..<400).contains($0.status) }.map(\.target))
    }

    /// For so long a cause is noticed late: the loop may have been busy.
    var lateness: UInt64 { 1_000_000_000 + world.callersWork }

    /// Judges all calls that have ended: each has a reason for its failure, and for the time that it took.
    static func judgeAll(_ world: World) {
        for number in world.calls.indices where world.calls[number].end != nil {
            let call = Reasons(world: world, number: number)
            world.kernel.count("caller: ended call")
            call.judgeTime()
            call.judgeOutcome()
        }
    }

    private func judgeTime() {
        guard !hasLackedDescriptor else { return world.kernel.count("excuse of a wait: no descriptor") }
        world.kernel.count("judge: slow")
        // So long is every call's time at least, and that of most need not be worked out.
        guard end - start > Self.shortestTime else { return }
        let (elapsed, longest) = (end - start, longestTime)
        if elapsed > longest {
            world.fault("slow", "call \(number) took \(elapsed / 1000) of \(longest / 1000) microseconds")
        }
    }

    /// A call that no cause has reached succeeds. One that fails has an error of a kind that one explains.
    private func judgeOutcome() {
        let reached = causes
        if let error = state.error {
            let kind = ErrorKind(error)
            for cause in reached where cause.kinds.contains(kind) {
                world.kernel.count("excused error: \(cause.name)")
            }
            if !reached.contains(where: { $0.kinds.contains(kind) }) {
                let names = reached.map(\.name)
                world.fault("no reason", "call \(number): \(error), of \(kind); reached by \(names)")
            }
        } else if !reached.isEmpty {
            return noteSilence(reached)
        }
        world.kernel.count("judge: no reason")
    }

    /// Notes what has reached a call that has succeeded all the same: the judge has nothing to say of it.
    private func noteSilence(_ causes: [Cause]) {
        let isAlone = causes.count == 1
        for cause in causes { world.kernel.count("excuse\(isAlone ? " alone" : ""): \(cause.name)") }
    }
}

/// What may have made a call fail, and the kinds of errors that it explains.
struct Cause {
    let name: String
    let kinds: Set<ErrorKind>
}

/// What an error says.
enum ErrorKind {
    case cancelled, limit
    /// What befell a connection, or a try to make one.
    case connection
    case certificate
    /// A name without an address.
    case name
    case proxy, redirect
    /// What is wrong with the bytes of a response.
    case content
    case download, cache, other

    init(_ error: any Error) {
        guard let error = error as? HTTPError else {
            self = error is CancellationError ? .cancelled : .other
            return
        }
        switch error.reason {
        case .timedOut, .tooSlow: self = .limit
        case .connectionClosed, .system, .overtaken: self = .connection
        case .tls(let error):
            switch error {
            case .certificateRejected, .nameMismatch, .staple, .keyNotPinned, .certificatesTooLarge:
                self = .certificate
            default: self = .connection
            }
        case .http(let error):
            switch error {
            case .closedBeforeResponse, .truncatedHead, .truncatedContent, .truncatedChunks,
                .truncatedUntilClose:
                self = .connection
            default: self = .content
            }
        case .coding, .bodyTooLarge: self = .content
        case .lookup, .noAddresses: self = .name
        case .resolver(let error):
            if case .timedOut = error.reason { self = .limit } else { self = .name }
        case .proxy: self = .proxy
        case .redirect: self = .redirect
        case .download, .status: self = .download
        case .cache: self = .cache
        default: self = .other
        }
    }
}
