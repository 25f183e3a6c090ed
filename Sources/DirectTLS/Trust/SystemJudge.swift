internal import CDirectOpenSSL

#if canImport(Security)
internal import CDirectSecurity
internal import Security
#endif

extension ChainJudge {
    /// The trust store of Apple's systems. `nil` on other systems, and if the environment names files of
    /// roots.
    static var ofSystem: ChainJudge? {
        #if canImport(Security)
        SystemRoots.named == nil ? secTrust : nil
        #else
        nil
        #endif
    }
}

#if canImport(Security)
extension ChainJudge {
    private static let secTrust = ChainJudge { question in
        var chain: [[UInt8]] = []
        var answer = direct_chain_answer()
        answer.found = { context, bytes, count in
            guard let context, let bytes else { return }
            context.assumingMemoryBound(to: [[UInt8]].self).pointee
                .append(Array(UnsafeBufferPointer(start: bytes, count: count)))
        }
        let status = withUnsafeMutablePointer(to: &chain) { chain in
            answer.context = UnsafeMutableRawPointer(chain)
            return ask(question, &answer)
        }
        return status == errSecSuccess ? .trusted(chain) : refusal(status, answer)
    }

    private static func ask(_ question: Question, _ answer: inout direct_chain_answer) -> Int32 {
        let counts = question.certificates.map(\.count)
        func ask(named name: UnsafePointer<CChar>?) -> Int32 {
            question.certificates.flatMap(\.self).withUnsafeBufferPointer { bytes in
                counts.withUnsafeBufferPointer { counts in
                    var question = direct_chain_question(
                        bytes: bytes.baseAddress,
                        counts: counts.baseAddress,
                        number: counts.count,
                        name: name,
                        may_fetch: question.mayFetch
                    )
                    return direct_judge_chain(&question, &answer)
                }
            }
        }
        return question.name?.withCString(ask) ?? ask(named: nil)
    }

    /// Returns the refusal.
    ///
    /// Apple's documents do not say which fault is told if there are several. To OpenSSL a certificate has
    /// expired only if its root is trusted, and an override may rely on that: so no fault is called by a
    /// name that sounds harmless.
    private static func refusal(_ status: Int32, _ answer: direct_chain_answer) -> Verdict {
        let text = withUnsafeBytes(of: answer.reason) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        let code =
            switch status {
            case errSecNotTrusted, errSecCreateChainFailed: X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY
            default: X509_V_ERR_CERT_REJECTED
            }
        return .refused(
            code: code,
            reason: "the system's trust store: \(text.isEmpty ? "no reason" : text) (\(status))"
        )
    }
}
#endif
