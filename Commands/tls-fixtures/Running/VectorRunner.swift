internal import DirectCore
internal import TLSFixtures

/// The result of one vector with one client.
struct Row: Sendable {
    enum Outcome: Equatable, Sendable {
        case passed
        case failed([Difference])
        /// The vector was left out because the client cannot run it, for this reason.
        case left(String)
        /// The program that gives jobs to the client failed, so the client is not judged.
        case broken(String)
    }

    var client: String
    /// The client's version. Empty if it is not known.
    var version = ""
    var head: VectorHead
    var outcome: Outcome
    /// The client's own error message, if there was one.
    var words = ""
    /// How many tries the trial took that took most. The last one counts.
    var tries = 1
    /// How long the vector took, with all its tries.
    var milliseconds = 0
    /// Whether the client is this package's own, for which the package's choices are rules.
    var isOurs = false
    /// Whether it has failed and is known to (`--baseline`).
    var isKnown = false
}

/// Which harmless twins of attacks a client passes. Each is run once.
private final class Twins: Sendable {
    private let runs = Locked<[String: Task<Bool, Never>]>([:])

    func isPassed(_ name: String, run: @escaping @Sendable () async -> Bool) async -> Bool {
        let task = runs.withLock { runs in
            if let task = runs[name] { return task }
            let task = Task { await run() }
            runs[name] = task
            return task
        }
        return await task.value
    }
}

/// Runs single vectors against one client.
struct VectorRunner: Sendable {
    let client: any VectorClient
    let folder: VectorFolder
    let authority: WireAuthority
    /// The client's name in reports. `nil` is its own.
    var title: String?
    /// The places of the vectors that run at the same time.
    private let places: Places
    private let twins = Twins()

    /// - Parameter jobs: The number of vectors to run at the same time. `nil` leaves it to the client.
    init(
        client: any VectorClient,
        folder: VectorFolder,
        authority: WireAuthority,
        title: String? = nil,
        jobs: Int? = nil
    ) {
        (self.client, self.folder, self.authority, self.title) = (client, folder, authority, title)
        places = Places(jobs ?? client.width, aside: jobs == nil ? client.width * 2 : nil)
    }

    /// Shows the vector to the client over a network. Our own client's parts also run it without one, and
    /// both results must be right.
    func run(_ vector: Vector) async -> Row {
        await places.enter()
        defer { places.leave() }
        let start = ContinuousClock.now
        var row = await outcome(of: vector)
        row.milliseconds = Int(start.duration(to: .now).milliseconds)
        return row
    }

    private func outcome(of vector: Vector) async -> Row {
        let inside = client.isOurs ? await vector.differencesInside() : .left("")
        if case .failed(let differences) = inside {
            return row(vector.head, .failed(differences))
        }
        var row = await runOverNetwork(vector)
        if case .left = row.outcome, inside == .passed { row.outcome = .passed }
        if !client.isOurs, vector.head.right == .attack {
            row.outcome = await shown(row.outcome, of: vector.head)
        }
        return row
    }

    /// The outcome of an attack, left out if the attack has not reached the client.
    private func shown(_ outcome: Row.Outcome, of head: VectorHead) async -> Row.Outcome {
        switch outcome {
        case .failed(let differences) where differences.allSatisfy(\.isLess):
            let reason = differences.first.map { "\($0.what): expected \($0.expected), got \($0.got)" }
            return .left("the attack did not reach it: \(reason ?? "nothing was compared")")
        case .passed:
            guard let name = head.twin, let twin = folder.vector(name) else { return outcome }
            let isDone = await twins.isPassed(name) { await runOverNetwork(twin).outcome == .passed }
            return isDone ? outcome : .left("the attack did not reach it: it does not pass \"\(name)\"")
        case .failed, .left, .broken: return outcome
        }
    }

    /// Shows the vector to the client over a network.
    func runOverNetwork(_ vector: Vector) async -> Row {
        var row = row(vector.head, .left("the vector has no trials"))
        switch vector.trials(folder, authority: authority, codings: client.facts.codings) {
        case .unsuitable(let why): row.outcome = .left(why)
        case .plans(let plans):
            var differences: [Difference] = []
            var hasRun = false
            for plan in plans where !plan.isThorough || client.isOurs {
                if let why = plan.reasonToSpareOthers, !client.isOurs {
                    if !hasRun { row.outcome = .left(why) }
                    continue
                }
                switch await run(plan, notingIn: &row) {
                case .left(let why):
                    if !hasRun { row.outcome = .left(why) }
                case .broken(let why):
                    row.outcome = .broken(plan.label.isEmpty ? why : "\(plan.label): \(why)")
                    return row
                case .ran(let found):
                    hasRun = true
                    differences += found.map { $0.found(in: plan.label) }
                }
                // One failed trial is enough to see what is wrong.
                if !differences.isEmpty { break }
            }
            if hasRun { row.outcome = differences.isEmpty ? .passed : .failed(differences) }
        }
        return row
    }

    private func row(_ head: VectorHead, _ outcome: Row.Outcome) -> Row {
        Row(
            client: title ?? client.title,
            version: client.facts.version,
            head: head,
            outcome: outcome,
            isOurs: client.title == OurClient().title
        )
    }

    private enum TrialResult {
        case left(String)
        case broken(String)
        case ran([Difference])
    }

    /// Runs one trial, again if its result may be that of a busy machine: once with longer limits if a limit
    /// was reached, and up to as many times as the plan allows until it passes.
    private func run(_ plan: TrialPlan, notingIn row: inout Row) async -> TrialResult {
        var tries = 0
        var patience = 1
        while true {
            tries += 1
            row.tries = max(row.tries, tries)
            // The second time is spent waiting, mostly.
            let (outcome, differences) =
                patience == 1
                ? await attempt(plan, isFirst: tries == 1)
                : await places.aside { await attempt(plan, patience: patience) }
            if case .left(let why) = outcome { return .left(why) }
            if case .broken(let why) = outcome { return .broken(why) }
            row.words = outcome.message
            if outcome.hasReachedLimit {
                // A client that gives no reasons may pass by its slowness. The second time is long enough to
                // count.
                let isExpected = differences.isEmpty && client.facts.givesReasons
                if patience > 1 || isExpected { return .ran(differences) }
                patience = Self.longPatience
            } else if differences.isEmpty || tries >= plan.chances {
                return .ran(differences)
            }
        }
    }

    /// Starts the servers of a trial and gives its job to the client. A server that cannot be started fails
    /// the vector and does not end the run.
    private func attempt(
        _ plan: TrialPlan,
        isFirst: Bool = true,
        patience: Int = 1
    ) async -> (JobOutcome, [Difference]) {
        do {
            let trial = try plan.start()
            if !isFirst, !client.isOurs, let control = try trial.control?() {
                let start = ContinuousClock.now
                _ = await client.run(control.job)
                control.took(start.duration(to: .now))
            }
            var job = trial.job
            job.patience = patience
            let outcome = await client.run(job)
            if let why = trial.reasonToLeave(outcome) { return (.left(why), []) }
            return (outcome, await trial.differences(outcome, client.facts) + outcome.crash)
        } catch {
            return (.done([]), [Difference(what: "servers", expected: "started", got: "\(error)")])
        }
    }

    /// How many times as long a client may take that has reached a limit. Four seconds are enough for any
    /// answer of a server on loopback, unless the processors are busy with other things.
    private static let longPatience = 3
}

extension JobOutcome {
    /// The client's own message about the first request that failed, or an empty text.
    fileprivate var message: String {
        switch self {
        case .done(let outcomes): outcomes.first { !$0.message.isEmpty }?.message ?? ""
        case .left(let why), .crashed(let why), .hung(let why), .broken(let why): why
        }
    }

    /// What a client that does not report a result has done.
    fileprivate var crash: [Difference] {
        switch self {
        case .crashed(let why), .hung(let why): [Difference(what: "client", expected: "a result", got: why)]
        case .done, .left, .broken: []
        }
    }
}

extension Vector {
    /// The ways to show the vector to a client over a network.
    func trials(_ folder: VectorFolder, authority: WireAuthority, codings: [String]) -> Trials {
        switch self {
        case .response(let vector): vector.trials(authority)
        case .request(let vector): vector.trials(authority)
        case .decoding(let vector): vector.trials(authority, codings: codings)
        case .names(let vector): vector.trials(CertificateFolder(path: folder.certificates))
        case .handshake(let vector): vector.trials(folder)
        case .routes(let vector): vector.trials(folder)
        case .cookies(let vector): vector.trials(authority)
        case .cache(let vector): vector.trials(authority)
        case .redirect(let vector): vector.trials(authority)
        case .hsts(let vector): vector.trials(authority)
        case .path(let vector): vector.trials(authority)
        case .exchange(let vector): vector.trials(authority)
        }
    }

    /// Runs the vector without a network, through the parts of this package that it is about.
    fileprivate func differencesInside() async -> Row.Outcome {
        let differences: [Difference]
        switch self {
        case .response(let vector): differences = vector.differences()
        case .request(let vector): differences = vector.differences()
        case .cookies(let vector): differences = vector.differences()
        case .decoding(let vector):
            if let coding = vector.missing { return .left("built without \(coding)") }
            differences = vector.differences()
        case .cache(let vector): differences = await vector.differences()
        case .redirect(let vector): differences = await vector.differences()
        case .names, .handshake, .routes, .hsts, .path, .exchange: return .left("")
        }
        return differences.isEmpty ? .passed : .failed(differences)
    }
}
