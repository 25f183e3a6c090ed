import DirectTLS
import Foundation

struct VerificationQuestion: Decodable {
    let id: String
    let roots: [Data]
    let chain: [Data]
    let host: String?
    let time: Double?
    let depth: Int?
    let crls: [String]?
}

struct VerificationAnswer: Encodable {
    let id: String
    var ok = false
    var err: String?
    /// Why the question was not answered.
    var skip: String?
}

/// Judges chains as the client's TLS does, and keeps the context for roots that come again.
final class ChainJudge {
    private let rules: CertificateRules
    private var contexts: [TrustRoots: TLSContext] = [:]

    init(rules: CertificateRules) {
        self.rules = rules
    }

    func verdict(on question: VerificationQuestion) -> VerificationAnswer {
        var answer = VerificationAnswer(id: question.id)
        guard question.crls?.isEmpty ?? true else {
            answer.skip = "revocation lists are not looked at"
            return answer
        }
        guard let host = question.host else {
            answer.skip = "no host"
            return answer
        }
        do throws(TLSError) {
            let fault = try context(question.roots).verify(
                question.chain.map { Array($0) },
                for: identity(host),
                // A fraction of a second has no place in a certificate: the second it lies in counts.
                at: question.time.map { Int($0.rounded(.down)) },
                intermediates: question.depth
            )
            answer.ok = fault == nil
            answer.err = fault?.description
        } catch {
            answer.err = error.description
        }
        return answer
    }

    private func context(_ roots: [Data]) throws(TLSError) -> TLSContext {
        let trust = TrustRoots.only(roots.map { .der(Array($0)) })
        if let known = contexts[trust] { return known }
        var settings = TLSSettings()
        settings.roots = trust
        settings.certificateRules = rules
        let context = try TLSContext(settings)
        contexts[trust] = context
        return context
    }

    /// A trailing dot is no part of the name here, as it is none in a URL.
    private func identity(_ host: String) throws(TLSError) -> ServerIdentity {
        if let address = try? ServerIdentity.address(host) { return address }
        return try .name(host.hasSuffix(".") ? String(host.dropLast()) : host)
    }
}
