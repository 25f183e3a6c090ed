internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// The part of a call's log that records one request.
final class ExchangeLog: Sendable {
    private let call: CallLog
    private let place: Int

    init(call: CallLog, place: Int) {
        self.call = call
        self.place = place
    }

    /// Reports an event that changes no record.
    func note(_ kind: CallEvent.Kind) {
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

    /// Records that the body ended or was abandoned.
    func endBody(_ count: UInt64, isWhole: Bool) {
        call.endBody(place, count: count, isWhole: isWhole)
    }

    /// Records that there will be no response.
    func fails(_ error: any Error) {
        call.fail(place, error: error)
    }
}

/// Events of dialling.
extension ExchangeLog {
    /// Reports the endpoints to try.
    func found(_ choice: EndpointSelection, for destination: Destination) {
        let name = destination.host.description
        note(.resolved(name: name, choice.endpoints, choice.source, after: choice.resolveTime))
    }

    /// Returns the attempt with events for its start and its success.
    func noting(
        _ attempt: @escaping @Sendable (Endpoint) async throws(AttemptFailure) -> EstablishedTransport,
        for destination: Destination
    ) -> @Sendable (Endpoint) async throws(AttemptFailure) -> EstablishedTransport {
        let name = destination.host.description
        return { endpoint throws(AttemptFailure) in
            self.note(.attempted(endpoint, name: name))
            let link = try await attempt(endpoint)
            self.note(.connected(endpoint, tls: link.tls))
            return link
        }
    }

    /// Reports attempts that failed.
    func failed(_ attempts: [Attempt]) {
        for attempt in attempts { note(.attemptFailed(attempt)) }
    }
}
