internal import DirectCore
internal import DirectIO

/// The requests that were sent below a cache for one request to it.
///
/// A network interceptor may send a different request from the one that the cache has seen, and an
/// authenticator may make other credentials for a retry, or another client may be asked instead. Such
/// requests are noted here. Otherwise the request is sent as the cache has seen it, and none is noted.
package final class SentRequests: Sendable {
    private struct Sent {
        var url: HTTPURL
        var policy: CacheRequestPolicy
    }

    private struct State {
        var requests: [Sent] = []
        var hasUnknown = false
    }

    private let state = Locked(State())

    /// Creates an empty list.
    init() {}

    /// Notes a request as it is sent.
    ///
    /// - Parameter request: The request.
    /// - Parameter defaults: Fields that are added if the request has none of that name.
    package func note(_ request: Request, defaults: HTTPHeaders) {
        guard case .success(let url) = request.parsedURL else { return }
        let asker = Asker(request.headers, own: defaults.identifying)
        let policy = CacheRequestPolicy(request, defaults: defaults, asker: asker)
        let sent = Sent(url: url.resource, policy: policy)
        state.withLock { $0.requests.append(sent) }
    }

    /// Notes that a request was sent which the cache knows nothing of: again with other credentials, or by
    /// another client, with the fields and cookies of that one.
    func noteUnknown() {
        state.withLock { $0.hasUnknown = true }
    }

    /// Whether every noted request asks for the same as the request to the cache and with the same
    /// credentials, as far as it can affect a response that is selected by these fields.
    func agree(with policy: CacheRequestPolicy, for url: HTTPURL, selecting names: VaryNames) -> Bool {
        let resource = url.resource
        return state.withLock { state in
            guard !state.hasUnknown else { return false }
            return state.requests.allSatisfy {
                $0.url == resource && policy.asksTheSame(as: $0.policy, selecting: names)
            }
        }
    }
}

extension CacheRequestPolicy {
    fileprivate func asksTheSame(as sent: CacheRequestPolicy, selecting names: VaryNames) -> Bool {
        method == sent.method && isApart == sent.isApart && passes == sent.passes && range == sent.range
            // The fields of the asker must agree even if `Vary` does not name them: the cache has seen only
            // the credentials in its own request.
            && (names.fields + fields.asker.fieldNames + sent.fields.asker.fieldNames).allSatisfy {
                fields[$0] == sent.fields[$0]
            }
    }
}

extension HTTPURL {
    /// The URL that responses are stored for.
    fileprivate var resource: HTTPURL { withoutCredentials.withoutFragment }
}
