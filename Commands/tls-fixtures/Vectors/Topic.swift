/// The topics of the vectors. Each has its own folder.
enum Topic: String, CaseIterable, Sendable {
    /// Parsing responses.
    case response
    /// Writing requests.
    case request
    /// Decoding bodies.
    case decoding
    /// Verifying certificates for a host.
    case names
    /// TLS handshakes.
    case handshake
    /// Choosing among several addresses for one host.
    case routes
    /// Attempts at several addresses: what must come of all of them together.
    case eyeballs
    /// Storing cookies and sending them back.
    case cookies
    /// Answering requests from a cache.
    case cache
    /// Answers that point elsewhere, and the requests that come of them.
    case redirect
    /// Names that want TLS.
    case hsts
    /// What the path sees of an encrypted name.
    case path
    // The vectors of all topics below are exchanges. One more of them is a case here and a folder.
    /// The name and the address, which are two values.
    case values
    /// Requests through proxies.
    case proxy
    /// User names, passwords, and challenges.
    case auth
    /// What comes before, instead of and behind a response.
    case exchange
    /// Server-sent events.
    case events
}
