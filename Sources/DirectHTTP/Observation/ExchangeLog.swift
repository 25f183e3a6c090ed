internal import DirectHTTP1
internal import DirectIO

/// The part of a log that one exchange writes.
final class ExchangeLog: Sendable {
    private let call: CallLog
    private let place: Int

    init(call: CallLog, place: Int) {
        self.call = call
        self.place = place
    }

    /// Something that is only to be told.
    func note(_ kind: CallEvent.Kind) {
        call.note(place) { _ in kind }
    }

    /// The head goes out.
    func sends(_ method: Method, _ url: HTTPURL, _ connection: Connection, bytes: Int, isReused: Bool) {
        call.note(place) { exchange in
            exchange.requestBytes = bytes
            return .sending(method, url, connection.facts.endpoint, bytes: bytes, isReused: isReused)
        }
    }

    /// A head has come.
    func responds(_ status: Status, _ transaction: Transaction) {
        call.beginBody(place, status, transaction)
    }

    /// Nothing more is read of the body.
    func endBody(_ count: UInt64, isWhole: Bool) {
        call.endBody(place, count, isWhole: isWhole)
    }

    /// There will be no response.
    func fails(_ error: any Error) {
        call.fail(place, error)
    }
}

/// What there is to tell of dialling.
extension ExchangeLog {
    /// There are addresses to try.
    func found(_ choice: Choice, for destination: Destination) {
        let name = destination.host.description
        note(.resolved(name: name, choice.endpoints, choice.source, after: choice.resolveTime))
    }

    /// The same attempt at one address, told of as it goes.
    func noting(
        _ attempt: @escaping @Sendable (Endpoint) async throws(AttemptFailure) -> Link,
        for destination: Destination
    ) -> @Sendable (Endpoint) async throws(AttemptFailure) -> Link {
        let name = destination.host.description
        return { endpoint throws(AttemptFailure) in
            self.note(.attempted(endpoint, name: name))
            let link = try await attempt(endpoint)
            self.note(.connected(endpoint, tls: link.tls))
            return link
        }
    }

    /// So many addresses did not do.
    func failed(_ attempts: [Attempt]) {
        for attempt in attempts { note(.attemptFailed(attempt)) }
    }
}
