internal import DirectCore
internal import DirectHTTP

/// The distinct answers to the same handshake, made several times with one address, and how often each came.
/// Behind one address there may be several servers.
struct AnswerCount {
    /// One of the distinct answers.
    struct Answer {
        let outcome: Result<Handshake.Served, HandshakeFailure>
        /// Whether nothing is wrong with it: the certificate is for the host, trusted, and as asked for.
        var isRight: Bool { kind == .right }
        /// What a client would say of it.
        fileprivate let kind: Kind
        /// What the server did, as the rest of a sentence after a number.
        let words: String
        fileprivate(set) var count = 1

        /// The certificate, if there is one.
        var leaf: ServedCertificate? { (try? outcome.get())?.chain.leaf }
        /// The reason why there is none.
        var failure: HandshakeFailure? {
            if case .failure(let failure) = outcome { failure } else { nil }
        }
    }

    /// The answers, the most frequent first, equally frequent ones in the order in which they came.
    private(set) var answers: [Answer] = []
    let total: Int

    /// Counts the answers. `nil` if the handshake was made less often. A handshake that was cut short does
    /// not count.
    ///
    /// - Parameter fault: What is wrong with a certificate that is for the host.
    init?(
        _ handshakes: [Handshake],
        of target: ProbeTarget,
        atLeast least: Int = 2,
        fault: (Handshake.Served) -> Fault?
    ) {
        let all = handshakes.filter { !$0.wasCutShort }
        guard all.count >= least else { return nil }
        total = all.count
        let identity = try? target.identity
        for handshake in all {
            let answer = Self.answer(handshake, for: identity, fault: fault)
            let known = answers.firstIndex {
                $0.kind == answer.kind && $0.leaf?.summary.sha256 == answer.leaf?.summary.sha256
            }
            if let known { answers[known].count += 1 } else { answers.append(answer) }
        }
        let order = answers.enumerated().sorted {
            ($1.element.count, $0.offset) < ($0.element.count, $1.offset)
        }
        answers = order.map(\.element)
    }

    var vary: Bool { answers.count > 1 }

    /// Whether a client would say different things of the answers, so that none of them is the verdict.
    var areMixed: Bool { Set(answers.map(\.kind)).count > 1 }

    /// The fault of answers that are mixed. If clients accept all of them, some lack what was asked for.
    var fault: Fault.ID {
        let faults = answers.compactMap { if case .fault(let id) = $0.kind { id } else { nil } }
        let isAsked = faults.allSatisfy { $0.row.subject == .expectation }
        return answers.allSatisfy { $0.isRight || $0.leaf != nil } && isAsked
            ? faults.first ?? .answersVary : .answersVary
    }

    /// The answers in words: those that are not right, or if all are, those that are not the most frequent
    /// one.
    var text: String {
        let wrong = answers.filter { !$0.isRight }
        return text(of: wrong.isEmpty ? Array(answers.dropFirst()) : wrong)
    }

    /// All answers in words.
    var fullText: String { text(of: answers) }

    private func text(of answers: [Answer]) -> String {
        answers.enumerated().map { index, answer in
            "\(answer.count)\(index == 0 ? " of \(total)" : "") \(answer.words)"
        }.joined(separator: ", ")
    }

    /// What a client would say of an answer.
    fileprivate enum Kind: Hashable {
        case right
        /// Another cause than the name, or the name.
        case fault(Fault.ID)
        case refused
        case silent
        case notConnected
        case notTLS
        case broken
    }

    private static func answer(
        _ handshake: Handshake,
        for identity: ServerIdentity?,
        fault: (Handshake.Served) -> Fault?
    ) -> Answer {
        switch handshake.outcome {
        case .failure(let failure):
            let (kind, words) = meaning(of: failure)
            return Answer(outcome: handshake.outcome, kind: kind, words: words)
        case .success(let served):
            let leaf = served.chain.leaf
            let names = leaf.map { ServedNames($0).first(1) } ?? "other names"
            guard served.chain.match(identity) != nil else {
                return Answer(
                    outcome: handshake.outcome,
                    kind: .fault(.nameMismatch),
                    words: "serve \(names)"
                )
            }
            let hash = leaf.map { Hex.encode(Array($0.summary.sha256.prefix(4))) } ?? ""
            let fault = fault(served)
            let words = fault.map { "certificate \(hash): \($0.brief)" } ?? "the right certificate \(hash)"
            let kind = fault.map { Kind.fault($0.id) } ?? .right
            return Answer(outcome: handshake.outcome, kind: kind, words: "serve \(words)")
        }
    }

    private static func meaning(of failure: HandshakeFailure) -> (Kind, String) {
        switch failure {
        case .alert, .closed, .reset: (.refused, "refuse the handshake (\(SNIWords.text(of: failure)))")
        case .silentTCP, .silentTLS: (.silent, "do not answer")
        case .notConnected, .badAddress, .noTunnel: (.notConnected, "cannot be connected to")
        case .notTLS, .noUpgrade: (.notTLS, "do not use TLS")
        case .broken, .cancelled: (.broken, "fail in the handshake")
        }
    }
}

extension Handshake {
    /// Whether it was not finished for want of time, and so says nothing of the server.
    var wasCutShort: Bool { failure == .cancelled }
}

extension Observation {
    /// Whether handshakes were made again, but not so often that four servers in turn would have shown.
    var isHalfConfirmed: Bool {
        let least = min(firsts.count { !$0.wasCutShort }, seconds.count { !$0.wasCutShort })
        return repeats.isEmpty && (isCutShort || !secondAgain.isEmpty && least < 4)
    }

    /// What to do where there was too little time.
    var withMoreTime: String {
        let slowest = (firsts + seconds).map(\.nanoseconds).max() ?? 0
        return "it answers too slowly to confirm what it serves in the time of a probe: "
            + "-t \(slowest / 100_000_000 + 1)s is enough"
    }

    /// How many handshakes like the first had its result, for a text that names a cause; empty for fewer than
    /// three, which several servers in turn may deceive.
    var often: String { Self.often(firsts) }

    /// The other cause of a result that depends on the name, if chance has been unkind.
    var orSeveral: String {
        often.isEmpty ? "" : "; or several servers answer there: --repeat 20 counts their answers"
    }

    /// The other cause of connections that are lost: they were made at the same time.
    var orBusy: String {
        (firsts + seconds).contains { $0.failure == .reset || $0.failure == .closed }
            ? "; or one takes few connections at once: --skip-default --repeat 20 makes them one by one" : ""
    }

    /// How many handshakes like the second had its result.
    var oftenWithTheOther: String { Self.often(seconds) }

    private static func often(_ handshakes: [Handshake]) -> String {
        let count = handshakes.count { !$0.wasCutShort }
        return count > 2 ? ", in \(count) of \(count) handshakes" : ""
    }
}

extension ProbeRecord {
    /// The answers to all handshakes like the first, as they were judged, if they differ or were asked for.
    var answers: AnswerCount? {
        let answers = Judge(settings: settings, now: judgedAt).answers(of: observation)
        return answers?.vary == true || !observation.repeats.isEmpty ? answers : nil
    }
}
