internal import DirectCore
internal import DirectHTTP

/// The distinct answers to the same handshake, made several times with one address (`--repeat`), and how
/// often each came. Behind one address there may be several servers.
struct AnswerCount {
    /// One of the distinct answers.
    struct Answer {
        let outcome: Result<Handshake.Served, HandshakeFailure>
        /// Whether a client would accept it: the certificate is for the host, and its chain is trusted.
        let isRight: Bool
        /// What the server did, as the rest of a sentence after a number.
        let words: String
        fileprivate(set) var count = 1

        /// The certificate, if there is one.
        var leaf: ServedCertificate? {
            if case .success(let served) = outcome { served.chain.leaf } else { nil }
        }
    }

    /// The answers, the most frequent first, equally frequent ones in the order in which they came.
    private(set) var answers: [Answer] = []
    let total: Int

    /// Counts the answers of an observation. `nil` if the handshake was made only once.
    init?(_ observation: Observation, now: Int) {
        guard let first = observation.first, !observation.repeats.isEmpty else { return nil }
        let all = [first] + observation.repeats
        total = all.count
        let identity = try? observation.probe.target.identity
        var known: [Kind: Int] = [:]
        for handshake in all {
            let kind = Kind(handshake)
            if let index = known[kind] {
                answers[index].count += 1
            } else {
                known[kind] = answers.count
                answers.append(Self.answer(handshake, identity, now))
            }
        }
        let order = answers.enumerated().sorted {
            ($1.element.count, $0.offset) < ($0.element.count, $1.offset)
        }
        answers = order.map(\.element)
    }

    var vary: Bool { answers.count > 1 }

    /// Whether some of the answers are right and some are not.
    var areMixed: Bool { answers.contains(where: \.isRight) && !answers.allSatisfy(\.isRight) }

    /// The answers in words: those that are not right, or if all are, those that are not the most frequent
    /// one.
    var text: String {
        let rest = areMixed ? answers.filter { !$0.isRight } : Array(answers.dropFirst())
        let parts = rest.enumerated().map { index, answer in
            "\(answer.count)\(index == 0 ? " of \(total)" : "") \(answer.words)"
        }
        return "answers vary: " + parts.joined(separator: ", ")
    }

    /// What makes two answers the same.
    private enum Kind: Hashable {
        case certificate([UInt8])
        case failure(HandshakeFailure)

        init(_ handshake: Handshake) {
            switch handshake.outcome {
            case .success(let served): self = .certificate(served.chain.leaf?.summary.sha256 ?? [])
            case .failure(let failure): self = .failure(failure)
            }
        }
    }

    private static func answer(_ handshake: Handshake, _ identity: ServerIdentity?, _ now: Int) -> Answer {
        switch handshake.outcome {
        case .failure(let failure):
            return Answer(outcome: handshake.outcome, isRight: false, words: words(failure))
        case .success(let served):
            let leaf = served.chain.leaf
            let names = leaf.map { ServedNames($0).first(1) } ?? "other names"
            guard served.chain.match(identity) != nil else {
                return Answer(outcome: handshake.outcome, isRight: false, words: "serve \(names)")
            }
            let hash = leaf.map { Hex.encode(Array($0.summary.sha256.prefix(4))) } ?? ""
            let fault =
                ChainVerdict(served.chain, now: now).faults.first ?? StapleVerdict(served, now: now).fault
            guard let fault else {
                return Answer(
                    outcome: handshake.outcome,
                    isRight: true,
                    words: "serve the right certificate \(hash)"
                )
            }
            let words = "serve certificate \(hash): \(fault.brief)"
            return Answer(outcome: handshake.outcome, isRight: false, words: words)
        }
    }

    private static func words(_ failure: HandshakeFailure) -> String {
        switch failure {
        case .alert, .closed, .reset: "refuse the handshake (\(SNIWords.text(of: failure)))"
        case .silentTCP, .silentTLS: "do not answer"
        case .notConnected, .badAddress: "cannot be connected to"
        case .notTLS, .noUpgrade: "do not use TLS"
        case .broken, .cancelled: "fail in the handshake"
        }
    }
}
