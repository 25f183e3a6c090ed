/// The form of requests that a proxy forwards.
struct Forwarding: Sendable {
    /// The value of Proxy-Authorization.
    let authorization: String?
}
