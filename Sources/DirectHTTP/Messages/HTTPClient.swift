/// Sends HTTP/1.1 requests: for the name in the URL, to the address that you choose.
///
/// A client is cheap to make and to copy; copies share their connections. It need not be shut down: when the
/// last copy is released, idle connections are closed, and requests in progress continue to their end.
public struct HTTPClient: Sendable {
    /// The object that all copies of the client share.
    ///
    /// Messages are nested in the client, so the client is declared below them and knows no more of its
    /// pipeline. Only `init(pipeline:)` sets this, and only `pipeline` reads it; the simulation watches that
    /// it goes.
    package let state: any AnyObject & Sendable
}
