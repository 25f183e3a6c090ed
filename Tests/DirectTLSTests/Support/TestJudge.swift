import DirectCore

@testable import DirectTLS

/// A judge that records what it is asked.
final class TestJudge: Sendable {
    let judge: ChainJudge
    private let asked: Locked<[ChainJudge.Question]>

    var questions: [ChainJudge.Question] { asked.withLock { $0 } }

    init(_ answer: @escaping @Sendable (ChainJudge.Question) -> ChainJudge.Verdict) {
        let asked = Locked<[ChainJudge.Question]>([])
        self.asked = asked
        judge = ChainJudge { question in
            asked.withLock { $0.append(question) }
            return answer(question)
        }
    }

    /// Trusts every server, by this chain.
    convenience init(trusting chain: [[UInt8]]) {
        self.init { _ in .trusted(chain) }
    }

    /// Trusts every server, by the certificates that it sends and this root.
    convenience init(root: [UInt8]) {
        self.init { .trusted($0.certificates + [root]) }
    }

    /// A context that trusts the system alone, whose judge this is.
    func context(_ change: (inout TLSSettings) -> Void = { _ in }) throws -> TLSContext {
        var settings = TLSSettings()
        settings.judge = judge
        change(&settings)
        return try TLSContext(settings)
    }
}
