internal import DirectCore
internal import DirectHTTP

/// What the issuer of a certificate says of it, for `--revocation`.
struct Revocation: Sendable {
    enum Source: String, Sendable {
        case ocsp
        case list = "crl"

        var words: String { self == .ocsp ? "its issuer's responder" : "its issuer's list" }
    }

    /// What was asked last; `nil` if the certificate names no place.
    var source: Source?
    var url: String?
    /// The checked answer; `nil` without one.
    var judgement: StapleJudgement?
    /// Why there is no answer.
    var failure = "the certificate names neither a responder nor a list"
}

/// Asks issuers by OCSP, or where that gives no answer, for their list. An answer counts for ten minutes, for
/// all that show the certificate.
///
/// The URLs are those of a certificate, so only chains that are trusted are asked about, and only over HTTP
/// (RFC 5280, section 4.2.1.13) at addresses of the public internet, unless the server itself is elsewhere.
final class RevocationDesk: Sendable {
    /// The answers of all runs, which `--listen` and `--watch` make many of.
    static let shared = RevocationDesk()

    private struct Asked {
        let answer: Task<Revocation, Never>
        let time: Instant
    }

    private struct Question: Hashable {
        let certificate: [UInt8]
        let isInside: Bool
    }

    private let entries = Locked<[Question: Asked]>([:])
    private static let mostEntries = 1024

    /// Asks about the server's certificate; each question takes at most so long.
    func ask(about chain: ExaminedChain, at address: IPAddress, within limit: Duration) async -> Revocation? {
        guard chain.judgement.isTrusted, let leaf = chain.leaf else { return nil }
        let outside = AddressVetting.publicInternetOnly
        let isInside = outside.refusal(of: address, for: .address(address), port: 80) != nil
        let key = Question(certificate: leaf.summary.sha256, isInside: isInside)
        let entry = entries.withLock { entries in
            if let known = entries[key], Instant.now.since(known.time) < .seconds(600) { return known }
            if entries.count >= Self.mostEntries { entries.removeAll() }
            let client = HTTPClient { settings in
                settings.vetting = isInside ? nil : outside
                settings.timeouts.total = limit
                settings.redirects.limit = 2
                settings.headers = ["User-Agent": "sni-probe/\(PackageVersion.text)", "Accept": "*/*"]
            }
            let made = Asked(answer: Task { await Self.ask(about: chain.served, client) }, time: .now)
            entries[key] = made
            return made
        }
        let answer = await entry.answer.value
        // A failure may be over the next time.
        if !answer.isClear { entries.withLock { $0[key] = nil } }
        return answer
    }

    private static func ask(about chain: ServedChain, _ client: HTTPClient) async -> Revocation {
        let urls = chain.revocationURLs
        var answer = Revocation()
        if let url = urls.responder, let question = chain.revocationQuestion {
            let type: HTTPHeaders = ["Content-Type": "application/ocsp-request"]
            let request = HTTPClient.Request(.post, url, headers: type, body: .bytes(question))
            answer = await fetch(request, url, .ocsp, client) { chain.judge(staple: $0) }
            if answer.isClear { return answer }
        }
        guard let url = urls.list else { return answer }
        return await fetch(HTTPClient.Request(.get, url), url, .list, client) { chain.judge(list: $0) }
    }

    private static func fetch(
        _ request: HTTPClient.Request,
        _ url: String,
        _ source: Revocation.Source,
        _ client: HTTPClient,
        judge: ([UInt8]) -> StapleJudgement?
    ) async -> Revocation {
        var answer = Revocation(source: source, url: url)
        do {
            guard try request.url.scheme == .http else {
                answer.failure = "\(source.words) has no URL of http"
                return answer
            }
            let response = try await client.fetch(request)
            answer.failure = "\(source.words) answers with status \(response.status.code)"
            if response.status == .ok { answer.judgement = judge(response.body) }
        } catch {
            answer.failure = "\(source.words) does not answer: \(error)"
        }
        return answer
    }
}

extension Revocation {
    /// Whether the answer settles the question.
    fileprivate var isClear: Bool { ["good", "revoked"].contains(word(now: Int(UnixTime.now.seconds))) }
}
