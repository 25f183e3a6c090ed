/// What vectors are about; each has a folder of its own.
enum Topic: String, CaseIterable, Sendable {
    /// The bytes of a response, and what they mean.
    case response
    /// A request, and its bytes.
    case request
    /// Coded content, and what it is decoded.
    case decoding
    /// Who is asked for, a certificate, and whether that is good enough.
    case names
    /// How a server speaks TLS, how a client does, and what becomes of it.
    case handshake
    /// Several addresses for one name, and which of them answers.
    case routes
    /// What responses set, and which cookies go with the requests behind them.
    case cookies
    /// Requests one after the other, and what a cache has to do with them.
    case cache
    /// Answers that point elsewhere, and the requests that come of them.
    case redirect

    /// Whether a whole client is needed, and servers for it.
    var needsServers: Bool {
        switch self {
        case .response, .request, .decoding, .cookies, .cache, .redirect: false
        case .names, .handshake, .routes: true
        }
    }
}
