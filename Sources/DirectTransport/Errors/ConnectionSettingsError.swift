/// Settings of a request that make no sense together, or where they are set.
@nonexhaustive
public enum ConnectionSettingsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The request has a Unix domain socket and addresses: it can be sent to one of these only.
    case unixSocketAndAddresses
    /// The request has a Unix domain socket and a local binding, which a connection to such a socket cannot
    /// have.
    case unixSocketAndBinding
    /// The request is for a Unix domain socket, and the client vets addresses, of which a socket has none.
    case unixSocketAndVetting
    /// A redirect leads from another origin to one that the client reaches over a Unix domain socket. A
    /// server must not send the client to a service of its own machine.
    case unixSocketBehindRedirect
    /// A network interceptor or `RedirectPolicy.decide` has set this option of a request, which the client
    /// has read before and will not read again: it belongs in the caller's request, or in an interceptor of
    /// calls.
    case setTooLate(String)

    /// The conflict as text.
    public var description: String {
        switch self {
        case .unixSocketAndAddresses: "the request has both a Unix domain socket and addresses"
        case .unixSocketAndBinding: "the request has both a Unix domain socket and a local binding"
        case .unixSocketAndVetting: "a Unix domain socket has no address that the client's vetting could see"
        case .unixSocketBehindRedirect:
            "a redirect leads to an origin that is reached over a Unix domain socket"
        case .setTooLate(let option):
            "\(option) of a request is set where it has no effect any more: "
                + "set it in the request of the call, or in an interceptor of calls"
        }
    }
}
