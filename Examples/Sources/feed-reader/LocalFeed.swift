import DirectHTTP
import DirectResolvers
import TLSFixtures

extension FeedReader {
    /// Reads a feed from servers inside this process: one for news.example, a name that no DNS has, and an
    /// HTTPDNS server that names its address.
    static func readLocalFeed() async throws {
        let authority = TestAuthority()
        let feed = try FixtureServer.start(.tls(certificates: [authority.certificate(for: "news.example")])) {
            request in
            if request.headers["if-none-match"] == "\"1\"" { return .status(304) }
            return .text(
                "<rss><title>News</title><title>Tea is ready</title></rss>",
                ["ETag": "\"1\"", "Cache-Control": "no-cache"]
            )
        }
        let httpdns = try FixtureServer.start { request in
            .text(#"{"host":"news.example","ips":["\#(feed.address)"],"ttl":60}"#)
        }
        let service = AlibabaHTTPDNS(account: "100000", .insecureHTTP([try httpdns.endpoint]))
        let reader = FeedReader(service: service, roots: .only([.der(authority.rootDER)]))
        for _ in 1...2 {
            let titles = try await reader.titles(at: "https://news.example:\(feed.port)/")
            print(titles.joined(separator: "\n"))
            precondition(titles == ["News", "Tea is ready"])
        }
        precondition(httpdns.requests.count == 1 && feed.requests.count == 2)
    }
}

extension FixtureServer {
    /// Where the server listens, as the client writes it.
    var endpoint: Endpoint { get throws { try Endpoint("\(address):\(port)") } }
}
