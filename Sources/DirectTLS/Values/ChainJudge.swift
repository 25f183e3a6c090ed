internal import DirectCore

/// Decides whether a server's chain is trusted, where the system's roots are no files that OpenSSL could
/// read.
///
/// It is asked behind OpenSSL's handshake. Only the trust in a root is its own: the name, the dates and the
/// signatures of the chain that it returns are checked again, like those of any other chain. Two judges are
/// equal if they are the same object.
package final class ChainJudge: Hashable, Sendable {
    /// The question to a judge.
    package struct Question: Equatable, Sendable {
        /// The certificates in DER as the server sent them, its own first.
        package let certificates: [[UInt8]]
        /// The name that the server has to prove. `nil` if it is an address or a name that the certificate
        /// lacks, which only we check, or if no name matters. Never the address of the connection.
        package let name: String?
        /// Whether it may fetch missing certificates from the network.
        let mayFetch: Bool
    }

    /// The answer of a judge.
    package enum Verdict: Equatable, Sendable {
        /// The chain in DER that is trusted, from the server's certificate to its root.
        case trusted([[UInt8]])
        /// The fault, as the number that OpenSSL has for it, and in words.
        case refused(code: Int32, reason: String)
    }

    /// Returns the verdict. It may block, so it must not be called on an event loop.
    let judge: @Sendable (Question) -> Verdict

    /// Makes a judge that calls the closure, which may block.
    init(_ judge: @escaping @Sendable (Question) -> Verdict) {
        self.judge = judge
    }

    /// Whether both are the same object.
    package static func == (left: ChainJudge, right: ChainJudge) -> Bool { left === right }

    /// Hashes the object's identity.
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A question to a judge, and its verdict once there is one. It holds values alone, so it may outlive the
/// connection whose server it is about.
package final class ChainTrial: Sendable {
    private let judge: ChainJudge
    private let question: ChainJudge.Question
    private let answer = Locked<ChainJudge.Verdict?>(nil)

    init(_ question: ChainJudge.Question, by judge: ChainJudge) {
        self.question = question
        self.judge = judge
    }

    /// The verdict; `nil` before ``hold()`` has returned.
    var verdict: ChainJudge.Verdict? { answer.withLock { $0 } }

    /// Asks the judge, and keeps the verdict. It may block.
    package func hold() {
        let verdict = judge.judge(question)
        answer.withLock { $0 = verdict }
    }
}
