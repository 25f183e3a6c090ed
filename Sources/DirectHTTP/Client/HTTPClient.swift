/// Sends HTTP/1.1 requests: for the name in the URL, to the address that you choose.
///
/// A client is cheap to make and to copy; copies share their connections. It need not be shut down: when the
/// last copy is released, idle connections are closed, and requests in progress continue to their end.
public struct HTTPClient: Sendable {
    /// The layers of a call, which all copies of the client share.
    let pipeline: Pipeline

    /// Refers to the client without keeping it: the simulation watches that it goes.
    package var identity: any AnyObject & Sendable { pipeline }
}
