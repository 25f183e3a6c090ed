// Prints the titles of a feed. HTTPDNS says where its host is, and the system does if HTTPDNS cannot be
// reached.
//
//   feed-reader URL ACCOUNT SERVER…     SERVER is the address of an HTTPDNS server
//   feed-reader                         a feed and an HTTPDNS server of its own

import DirectHTTP
import DirectResolvers

@main
struct FeedReader {
    let client: HTTPClient

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count >= 3, let url = arguments.first else { return try await readLocalFeed() }
        let service = AlibabaHTTPDNS(
            account: arguments[arguments.startIndex + 1],
            .https(try arguments.dropFirst(2).map { try Endpoint($0) })
        )
        let reader = FeedReader(service: service, roots: .system)
        for title in try await reader.titles(at: url) { print(title) }
    }

    init(service: AlibabaHTTPDNS, roots: TrustRoots) {
        client = HTTPClient {
            // The answers are kept for as long as they are valid, and for an hour more while new ones are on
            // their way.
            $0.resolver = CachingResolver(
                ChainResolver(service, SystemResolver(), fallback: .onConnectFailure)
            ) { $0.staleTime = .seconds(3600) }
            // A feed that has not changed is not sent again (304).
            $0.cache = .memory()
            $0.timeouts.total = .seconds(20)
            $0.tls.roots = roots
        }
    }

    func titles(at url: String) async throws -> [String] {
        let feed = try await client.get(url, headers: ["Accept": "application/rss+xml, application/atom+xml"])
            .requiringSuccess()
        if let transaction = feed.transaction {
            let place = transaction.endpoint?.description ?? "a socket"
            print("from \(place), which \(transaction.source) named")
        } else {
            print("from the cache")
        }
        return Self.elements(named: "title", in: feed.text ?? "")
    }

    /// The contents of elements, for a list of titles: a program that needs more than that needs a parser of
    /// XML.
    static func elements(named name: String, in text: String) -> [String] {
        text.split(separator: "<\(name)>").dropFirst().compactMap { part in
            part.firstRange(of: "</\(name)>").map { String(part[..<$0.lowerBound]) }
        }
    }
}

extension Substring {
    /// The place of a text in this one.
    fileprivate func firstRange(of text: String) -> Range<Index>? {
        indices.first { self[$0...].hasPrefix(text) }.map { $0..<index($0, offsetBy: text.count) }
    }
}
