internal import DirectIO

/// The requests that went out below a cache for one of its questions.
///
/// An interceptor of the network may send something else than the cache has seen. Such requests are noted; where there is
/// no interceptor, the request goes out as it was seen and nothing is noted.
package final class SentRequests: Sendable {
    private struct Sent {
        var url: HTTPURL
        var question: CacheQuestion
    }

    private let requests = Locked<[Sent]>([])

    package init() {}

    /// Notes a request as it goes out. `defaults` are added where it has no field of that name.
    package func note(_ request: Request, defaults: Headers) {
        guard case .success(let url) = request.target else { return }
        let sent = Sent(url: url.resource, question: CacheQuestion(request, defaults: defaults))
        requests.withLock { $0.append(sent) }
    }

    /// Whether all of them asked what the cache was asked, as far as a response depends on it that was selected by these
    /// fields.
    func agree(with question: CacheQuestion, for url: HTTPURL, selecting names: SelectingNames) -> Bool {
        let resource = url.resource
        return requests.withLock { requests in
            requests.allSatisfy {
                $0.url == resource && question.asksTheSame(as: $0.question, selecting: names)
            }
        }
    }
}

extension CacheQuestion {
    fileprivate func asksTheSame(as sent: CacheQuestion, selecting names: SelectingNames) -> Bool {
        method == sent.method && passes == sent.passes && range == sent.range
            && (names.names + Self.credentials).allSatisfy { fields[$0] == sent.fields[$0] }
    }

    /// Below the cache they count whether or not the response says that it depends on them: the cache knows nobody else
    /// by them.
    private static let credentials = ["authorization", "cookie", "proxy-authorization"]
}

extension HTTPURL {
    /// What responses are kept for.
    fileprivate var resource: HTTPURL { withoutCredentials.withoutFragment }
}
