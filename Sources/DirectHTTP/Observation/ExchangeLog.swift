internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// The part of a call's log that records one request.
final class ExchangeLog: TransportObserver {
    private let call: CallLog
    private let place: Int

    init(call: CallLog, place: Int) {
        self.call = call
        self.place = place
    }

    /// Reports an event that changes no record.
    func report(_ kind: CallEvent.Kind) {
        call.note(place) { _ in kind }
    }

    /// Records that the request's head is sent.
    func sends(_ method: HTTPMethod, url: HTTPURL, connection: Connection, bytes: Int, isReused: Bool) {
        call.note(place) { exchange in
            exchange.requestBytes = bytes
            return .sending(method, url, connection.facts.endpoint, bytes: bytes, isReused: isReused)
        }
    }

    /// Records the head of a response.
    func responds(_ status: HTTPStatus, transaction: HTTPTransaction) {
        call.beginBody(place, status: status, transaction: transaction)
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
        case .attempted(let endpoint, let name): report(.attempted(endpoint, name: name))
        case .attemptFailed(let attempt): report(.attemptFailed(Attempt(attempt)))
        case .connected(let endpoint, let tls): report(.connected(endpoint, tls: tls))
        case .bodyEnded(let count, let isWhole): call.endBody(place, count: count, isWhole: isWhole)
        }
    }
}
