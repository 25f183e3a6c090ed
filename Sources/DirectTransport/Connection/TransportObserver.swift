package import DirectCore
package import DirectHTTP1
package import DirectTLS

/// Is told what happens to one request below the client.
package protocol TransportObserver: AnyObject, Sendable {
    /// Records an event. Called on the thread where it happens; must not block.
    func note(_ event: TransportEvent)
}

/// An event of one request.
package enum TransportEvent: Sendable {
    /// The addresses of a name are known. `after` is the time that a resolver took; `nil` if none was asked.
    case resolved(name: String, [Endpoint], AddressSource, after: Duration?)
    /// Resolvers were asked for a name, and failed. Others may have named its addresses.
    case resolversFailed(name: String, [any Error])
    /// An attempt at an address began, for this name.
    case attempted(Endpoint, name: String)
    /// An attempt at an address failed.
    case attemptFailed(FailedAttempt)
    /// The files of the client's certificate have changed and cannot be used, so the former one still is.
    case identityKept(TLSError)
    /// A connection was made; to a Unix domain socket if there is no endpoint, here and below.
    case connected(Endpoint?, tls: TLSFacts?)
    /// The request is sent: its head, and as much of the body as is sent with it.
    case sending(Endpoint?, bytes: Int, isReused: Bool)
    /// An idle connection turned out to be dead; the request is sent on another one.
    case foundDead(Endpoint?)
    /// The head of a response arrived.
    case responded(HTTPStatus, ExchangeRecord)
    /// The body of the response ended, or its reader abandoned it.
    case bodyEnded(bytes: UInt64, isWhole: Bool)
}
