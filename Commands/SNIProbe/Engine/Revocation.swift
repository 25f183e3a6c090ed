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
    /// Why there is no answer, or none of others.
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

    /// Asks about the server's certificate. All places together take at most so long.
    func ask(about chain: ExaminedChain, at address: IPAddress, within limit: Duration) async -> Revocation? {
        guard chain.judgement.isTrusted, let leaf = chain.leaf else { return nil }
        let outside = AddressVetting.publicInternetOnly
        let isInside = outside.refusal(of: address, for: .address(address), port: 80) != nil
        let key = Question(certificate: leaf.summary.sha256, isInside: isInside)
        let entry = entries.withLock { entries in
            if let known = entries[key], Instant.now.since(known.time) < .seconds(600) { return known }
            if entries.count >= Self.mostEntries { entries.removeAll() }
            let urls = chain.served.revocationURLs
            let places = max(1, urls.responders.count + urls.lists.count)
            let client = HTTPClient { settings in
                settings.vetting = isInside ? Self.inside(address, for: chain.served) : outside
                settings.timeouts.total = limit / places
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

    /// What may be dialled for a server that is not on the public internet itself: outside of that only the
    /// hosts that the certificate names, so that none of them leads to others. Never this link or what clouds
    /// serve their secrets at, and this machine only for a server on it; never as the unspecified address.
    private static func inside(_ server: IPAddress, for chain: ServedChain) -> AddressVetting {
        let urls = chain.revocationURLs
        let hosts = Set((urls.responders + urls.lists).compactMap { try? HTTPURL($0).host })
        let local = ["127.0.0.0/8", "::1/128"].compactMap { try? AddressRange($0) }
        let secrets = [
            "169.254.0.0/16", "fe80::/10", "fd00:ec2::/32", "100.100.100.200/32", "192.0.0.192/32",
            "0.0.0.0/8",
            "::/128",
        ]
        let named = AddressVetting.publicInternetOnly(
            allowing: ["0.0.0.0/0", "::/0"].compactMap { try? AddressRange($0) },
            denying: secrets.compactMap { try? AddressRange($0) }
                + (local.contains { $0.contains(server) } ? [] : local)
        )
        return AddressVetting { address, host, port in
            let rule = hosts.contains(host) ? named : .publicInternetOnly
            return rule.refusal(of: address, for: host, port: port)
        }
    }

    /// Asks every responder, then every place of the list, until one gives a clear answer. Without one, an
    /// answer that can be judged says more than none.
    private static func ask(about chain: ServedChain, _ client: HTTPClient) async -> Revocation {
        let urls = chain.revocationURLs
        var places: [(Revocation.Source, String)] = urls.lists.map { (.list, $0) }
        let question = chain.revocationQuestion
        if question != nil { places = urls.responders.map { (.ocsp, $0) } + places }
        var answers: [Revocation] = []
        for (source, url) in places {
            let answer: Revocation
            if source == .ocsp {
                let type: HTTPHeaders = ["Content-Type": "application/ocsp-request"]
                let body = HTTPClient.Request(.post, url, headers: type, body: .bytes(question ?? []))
                answer = await fetch(body, url, source, client) { chain.judge(staple: $0) }
            } else {
                let request = HTTPClient.Request(.get, url)
                answer = await fetch(request, url, source, client) { chain.judge(list: $0) }
            }
            if answer.isClear { return answer }
            answers.append(answer)
        }
        guard var answer = answers.last(where: { $0.judgement != nil }) ?? answers.last else {
            return Revocation()
        }
        answer.failure = answers.filter { $0.judgement == nil }.map(\.failure).reduce(into: [String]()) {
            if !$0.contains($1) { $0.append($1) }
        }.joined(separator: "; ")
        return answer
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
            guard let scheme = url.split(separator: ":").first, scheme.lowercased() == "http" else {
                let name = PlainText.harmless(String(url.prefix { $0 != ":" }.prefix(16)), unicode: true)
                answer.failure = "\(source.words) is not asked over \(name.lowercased())"
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
