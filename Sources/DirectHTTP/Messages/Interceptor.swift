/// Sends a request on to the next interceptor, or to the client, and returns the response.
public typealias Forward = @Sendable (HTTPClient.Request) async throws -> HTTPClient.Response

/// Sees the requests of a client: may change them, answer them, send them several times or refuse them.
///
/// The first of several interceptors sees the request first and the response last. Errors pass through an
/// interceptor as through any other function. A call that is cancelled ends at once: the interceptor is
/// cancelled with it, and what it returns or throws after that is dropped.
///
/// If the request passed to `forward` is a copy of the one that the interceptor received, it has the options
/// that the interceptor has left in it. If it was made anew, each option that it does not set (addresses, a
/// limit, a callback and others) is taken from the one that the interceptor received. A request for another
/// origin is treated like a redirect there: copied fields that are not known to be safe are removed, and so
/// are the client's own; fields that the interceptor sets for that origin are sent.
///
/// ``HTTPClient/Configuration/interceptors`` run once a call,
/// ``HTTPClient/Configuration/networkInterceptors`` once a request on the network. Options that the client
/// has read by then cannot be set there: time limits, the policies for redirects, retries and hedging, and
/// the authenticator (``ConnectionSettingsError/setTooLate(_:)``).
public typealias Interceptor =
    @Sendable (_ request: HTTPClient.Request, _ forward: Forward) async throws -> HTTPClient.Response
