internal import DirectJSON

/// A test of Encrypted Client Hello: a server with or without the key of the configuration that the client
/// has, and what the path between them sees.
struct PathVector: TopicVector {
    /// The keys of the server.
    enum Keys: String, Choice {
        /// It has the key of the configuration.
        case published
        /// It has another key, and names its configuration to clients that it has to refuse.
        case other
        /// It has another key, and does not name it.
        case unnamed
        /// It does not know Encrypted Client Hello.
        case none
    }

    var head: VectorHead
    @Or<Published> var keys: Keys
    /// Whether it has a certificate for the public name.
    @Or<True> var provesPublicName: Bool
    /// OpenSSL's list of the server's groups.
    var groups: String?
    @Or<Modern> var versions: ClosedRange<ProtocolVersion>
    @Or<One> var requests: Int
    let expect: Expectation

    /// The outcome of the last request.
    struct Expectation: Decodable, Sendable {
        @OneOrMore var endings: [Ending]
        /// The number of connections of all requests.
        let connections: Int
        var isResumed: Bool?

        private enum CodingKeys: String, CodingKey {
            case endings = "ending", connections, isResumed = "resumed"
        }
    }

    enum Published: Fallback { static let value = Keys.published }
    enum Modern: Fallback { static let value = ProtocolVersion.tls13 ... .tls13 }
    enum One: Fallback { static let value = 1 }
}
