package import DirectCore
internal import DirectHTTP1
package import DirectIO
package import DirectTLS

extension Connection {
    /// Makes a connection for examining its server, which need not have proved its identity. No pool may own
    /// it.
    ///
    /// - Parameters:
    ///   - name: The host that is meant.
    ///   - survey: The TLS connection over the socket, after its handshake; `nil` without TLS.
    package static func examining(
        _ name: String,
        at endpoint: Endpoint,
        over socket: Socket,
        survey: SurveyConnection?
    ) -> Connection {
        let facts = ConnectionFacts(
            name: name,
            path: .init(place: .endpoint(endpoint), source: .request),
            times: .init(end: socket.loop.now)
        )
        let layers = survey.map { LayerStack(socket, surveyed: $0) } ?? LayerStack(socket)
        return Connection(layers, facts: facts, reader: ResponseReader())
    }
}
