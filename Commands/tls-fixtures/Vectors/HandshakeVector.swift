internal import DirectJSON

/// A test of TLS handshakes: a server, the client's settings, and the outcome.
struct HandshakeVector: TopicVector, Checked {
    var head: VectorHead
    /// The name of a server in `servers.json`.
    let server: String
    /// The hosts to request in turn, each on a new connection.
    @Or<GoodHost> var names: [String]
    let client: ClientSide
    let expect: Expectation

    var fault: String? { names.isEmpty ? "names: the list is empty" : nil }

    var mentions: Mentions {
        Mentions(certificates: client.certificate.map { [$0] } ?? [], servers: [server])
    }

    /// The client's TLS settings.
    struct ClientSide: MayBeAbsent, Sendable {
        var versions: ClosedRange<ProtocolVersion>?
        /// The certificate to send to a server that requests one.
        var certificate: String?
        @Or<True> var resumes: Bool

        init() {}
    }

    /// The expected outcome of the last request. All earlier requests must be answered.
    struct Expectation: Decodable, Sendable {
        @OneOrMore var endings: [Ending]
        var content: String?
        /// The TLS version that the server saw. The values below are also the server's view.
        var version: ProtocolVersion?
        var chosenProtocol: String??
        var offeredProtocols: [String]?
        var serverName: String??
        var isResumed: Bool?
        var offersResumption: Bool?
        var offersEarlyData: Bool?
        var clientCertificate: String??
        /// Whether the server has received application data.
        var hasSentRequest: Bool?

        private enum CodingKeys: String, CodingKey {
            case endings = "ending", content, version, chosenProtocol = "protocol", offeredProtocols,
                serverName
            case isResumed = "resumed", offersResumption, offersEarlyData, clientCertificate
            case hasSentRequest = "requestSent"
        }
    }

    enum GoodHost: Fallback { static let value = ["good.test"] }
}
