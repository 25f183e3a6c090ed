internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// The part of a call's log that records one request.
final class ExchangeLog: TransportObserver {
    private let call: CallLog
    private let place: Int
    private let method: HTTPMethod
    private let url: HTTPURL
    /// The tags of this request; `nil` for those of the call.
    private let tags: RequestTags?

    init(call: CallLog, place: Int, tags: RequestTags?, method: HTTPMethod, url: HTTPURL) {
        self.call = call
        self.place = place
        self.method = method
        self.url = url
        self.tags = tags
    }

    /// Records that there will be no response.
    func fails(_ error: any Error) {
        call.fail(place, error: error)
    }
}

/// Events of the transport.
extension ExchangeLog {
    func note(_ event: TransportEvent) {
        switch event {
        case .resolved(let name, let endpoints, let source, let time):
            report(.resolved(name: name, endpoints, source, after: time))
        case .resolversFailed(let name, let errors):
            for case let error as ResolverError in errors { noteFailure(error, to: name) }
        case .attempted(let endpoint, let name): report(.attempted(endpoint, name: name))
        case .attemptFailed(let attempt): report(.attemptFailed(Attempt(attempt)))
        case .identityKept(let error): report(.identityKept(error))
        case .connected(let endpoint, let tls): report(.connected(endpoint, tls: tls))
        case .sending(let endpoint, let bytes, let isReused):
            call.note(place, tags: tags) { exchange in
                exchange.requestBytes = bytes
                return .sending(method, url, endpoint, bytes: bytes, isReused: isReused)
            }
        case .foundDead(let endpoint): report(.foundDead(endpoint))
        case .responded(let status, let record):
            let transaction = HTTPTransaction(record: record)
            call.beginBody(place, tags: tags, status: status, transaction: transaction)
        case .bodyEnded(let count, let isWhole):
            call.endBody(place, tags: tags, count: count, isWhole: isWhole)
        }
    }

    /// Records that a resolver failed, and those that were asked before it. A table that does not list a name
    /// has not failed.
    private func noteFailure(_ error: ResolverError, to name: String) {
        for failure in error.each where !failure.isNotListed {
            call.note(place, tags: tags) { exchange in
                exchange.resolverFailures.append(failure)
                return .resolverFailed(name: name, failure)
            }
        }
    }

    /// Reports an event that changes no record.
    private func report(_ kind: CallEvent.Kind) {
        call.note(place, tags: tags) { _ in kind }
    }
}
