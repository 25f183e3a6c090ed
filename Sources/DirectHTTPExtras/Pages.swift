public import DirectHTTP

extension HTTPClient {
    /// Returns the pages of a list, each when it is asked for: the response to the request, then the one that
    /// its link with the relation `next` leads to (RFC 8288), and so on.
    ///
    /// Each page is a call with the same request at another URL: fields, addresses and settings apply each
    /// time. The sequence fails with the error of `BufferedResponse.requiringSuccess(keeping:)` for any
    /// status but 2xx, and with a ``PageError`` if a server leads to another origin, to a page that was there
    /// before, or to more pages than the limit.
    ///
    /// - Parameters:
    ///   - request: The request for the first page. A body would be sent with each.
    ///   - limit: The number of pages at most.
    ///   - next: Returns the URL of the page behind this one; `nil` at the end. By default the first link
    ///     `rel="next"`. For servers that name it in the body.
    public func pages(
        of request: Request,
        upTo limit: Int = 1000,
        next: @escaping @Sendable (BufferedResponse) throws -> HTTPURL? = { page in
            page.links.first { $0.relations.contains("next") }?.target
        }
    ) -> some AsyncSequence<BufferedResponse, any Error> & Sendable {
        PageSequence(client: self, first: request, limit: limit, next: next)
    }
}

/// The reason why the pages of a list end with an error.
@nonexhaustive
public enum PageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The next page is at another origin than the first: what is sent is for that one, so a program that
    /// wants it makes another request.
    case otherOrigin(Origin)
    /// The next page has been there before.
    case loop(HTTPURL)
    /// There are more pages than the limit.
    case tooMany(limit: Int)

    /// The reason, without the values of queries.
    public var description: String {
        switch self {
        case .otherOrigin(let origin): "the next page is at another origin: \(origin)"
        case .loop(let url): "the next page has been there before: \(url.redacted)"
        case .tooMany(let limit): "there are more than \(limit) pages"
        }
    }
}

extension PageError: CustomReflectable {
    /// Shows no more in `dump` either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

private struct PageSequence: AsyncSequence, Sendable {
    let client: HTTPClient
    let first: HTTPClient.Request
    let limit: Int
    let next: @Sendable (HTTPClient.BufferedResponse) throws -> HTTPURL?

    func makeAsyncIterator() -> Iterator { Iterator(pages: self, request: first) }

    struct Iterator: AsyncIteratorProtocol {
        let pages: PageSequence
        /// The request for the next page, or why there is none; `nil` at the end.
        private var following: Result<HTTPClient.Request, PageError>?
        /// The origin of the first page.
        private var home: Origin?
        private var seen: Set<HTTPURL> = []
        private var count = 0

        init(pages: PageSequence, request: HTTPClient.Request) {
            self.pages = pages
            // A link has no user and no password: what the first URL has is for all pages.
            let first = request.resolved(against: pages.client.configuration.baseURL)
            following = .success(first.introducingURLUser())
        }

        mutating func next() async throws -> HTTPClient.BufferedResponse? {
            guard let step = following else { return nil }
            // After an error nothing follows.
            following = nil
            let request = try step.get()
            guard count < pages.limit else { throw PageError.tooMany(limit: pages.limit) }
            count += 1
            let page = try await pages.client.fetch(request).requiringSuccess()
            // The URL that was asked for, not the one that a redirect has led to.
            let url = page.history.first?.url ?? page.url
            seen.insert(url)
            let sent = Self.sent(request, to: url)
            let origin = home ?? (try? sent.url.origin) ?? url.origin
            home = origin
            following = try pages.next(page).map { next in
                // A page of another origin, to which a redirect has led, must not choose what is asked for
                // with the secrets of this one (CVE-2024-45336).
                guard page.url.origin == origin else { return .failure(.otherOrigin(page.url.origin)) }
                return follow(next, from: sent, within: origin)
            }
            return page
        }

        /// Returns the request for the origin that it is for: its own also if an interceptor sent it to
        /// another one, where its secrets must not go, but not if it was sent over https instead, with them.
        private static func sent(_ request: HTTPClient.Request, to url: HTTPURL) -> HTTPClient.Request {
            guard let own = try? request.url, url.scheme == .https, own.isSamePlace(as: url) else {
                return request
            }
            return request.upgraded
        }

        /// Returns the request for a further page.
        private func follow(
            _ url: HTTPURL,
            from request: HTTPClient.Request,
            within origin: Origin
        ) -> Result<HTTPClient.Request, PageError> {
            let url = pages.client.upgraded(url)
            guard url.origin == origin else { return .failure(.otherOrigin(url.origin)) }
            guard !seen.contains(url) else { return .failure(.loop(url)) }
            return .success(request.replacing(url: url))
        }
    }
}
