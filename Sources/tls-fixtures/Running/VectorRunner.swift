internal import TLSFixtures

/// The result of one vector with one client.
struct Row: Sendable {
    enum Outcome: Equatable, Sendable {
        case passed
        case failed([Difference])
        /// The vector was left out because the client cannot run it, for this reason.
        case left(String)
    }

    var client: String
    /// The client's version. Empty if it is not known.
    var version = ""
    var head: VectorHead
    var outcome: Outcome
    /// The client's own error message, if there was one.
    var words = ""
}

/// Runs single vectors against one client.
struct VectorRunner: Sendable {
    let client: any VectorClient
    let folder: VectorFolder
    let authority: WireAuthority

    /// Shows the vector to the client over a network. Our own client's parts also run it without one, and both results
    /// must be right.
    func run(_ vector: Vector) async -> Row {
        let inside = client.isOurs ? await vector.differencesInside() : .left("")
        if case .failed(let differences) = inside {
            return row(vector.head, .failed(differences))
        }
        var row = await runOverNetwork(vector)
        if case .left = row.outcome, inside == .passed { row.outcome = .passed }
        return row
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
                switch await run(plan, words: &row.words) {
                case .left(let why):
                    if !hasRun { row.outcome = .left(why) }
                case .ran(let found):
                    hasRun = true
                    differences += found.map { $0.labelled(plan.label) }
                }
                // One failed trial is enough to see what is wrong.
                if !differences.isEmpty { break }
            }
            if hasRun { row.outcome = differences.isEmpty ? .passed : .failed(differences) }
        }
        return row
    }

    private func row(_ head: VectorHead, _ outcome: Row.Outcome) -> Row {
        Row(client: client.title, version: client.facts.version, head: head, outcome: outcome)
    }

    private enum TrialResult {
        case left(String)
        case ran([Difference])
    }

    /// Runs one trial, up to as many times as the plan allows until it passes. A server that cannot be started fails
    /// the vector and does not end the run.
    private func run(_ plan: TrialPlan, words: inout String) async -> TrialResult {
        var differences: [Difference] = []
        for _ in 0..<plan.chances {
            do {
                let trial = try plan.start()
                let outcome = await client.run(trial.job)
                if case .left(let why) = outcome { return .left(why) }
                words = outcome.message
                differences = await trial.differences(outcome, client.facts)
                if case .crashed(let why) = outcome {
                    differences.append(Difference(what: "client", expected: "a result", got: why))
                }
            } catch {
                differences = [Difference(what: "servers", expected: "started", got: "\(error)")]
            }
            if differences.isEmpty { break }
        }
        return .ran(differences)
    }
}

extension JobOutcome {
    /// The client's own message about the first request that failed, or an empty text.
    fileprivate var message: String {
        switch self {
        case .done(let outcomes): outcomes.first { !$0.message.isEmpty }?.message ?? ""
        case .left(let why), .crashed(let why): why
        }
    }
}

extension Difference {
    /// The difference with the label of a trial in front.
    fileprivate func labelled(_ label: String) -> Difference {
        label.isEmpty ? self : Difference(what: "\(label): \(what)", expected: expected, got: got)
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
        case .names, .handshake, .routes: return .left("")
        }
        return differences.isEmpty ? .passed : .failed(differences)
    }
}
