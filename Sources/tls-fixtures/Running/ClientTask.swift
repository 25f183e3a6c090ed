/// A client's task in one vector.
struct ClientTask: Sendable {
    /// The URLs to request in turn, each on a new connection. The result is that of the last.
    var urls: [String]
    /// The name or address in the URL, without brackets.
    var host: String
    var port: UInt16
    /// The addresses in the request, as texts that may have a port. `nil` if the request has none.
    var addresses: [String]?
    /// The addresses in the client's own map.
    var mappedAddresses: [String] = []
    var client = HandshakeVector.ClientSide()
    var dialling = RouteVector.Dialling()
    /// The folder with the client's certificates and the root that it trusts.
    var certificates: String

    /// The path of the only root that the client trusts.
    var root: String { "\(certificates)/root.pem" }
}

/// The result of a client's task, as the client reports it.
struct Observation: Sendable {
    var ending: Ending
    /// The body of the response, or the client's own error message.
    var text: String
    /// The outcome at each address that was tried, in that order. `nil` if the client does not report it.
    var attempts: [(address: String, ending: Ending)]?
}

/// A client that the vectors are run against.
protocol VectorClient: Sendable {
    /// The name in reports.
    var title: String { get }
    /// Whether it reports the reason of a failure in the vectors' words. If not, only success and failure are
    /// compared.
    var givesReasons: Bool { get }
    /// Whether it can run vectors of bytes, which have no network. Only the package's own code can.
    var takesBytes: Bool { get }
    /// The number of tasks that it runs at the same time.
    var width: Int { get }
    /// Returns why the client cannot run this task, or `nil` if it can.
    func unsupportedReason(to errand: ClientTask) -> String?
    /// Runs the task.
    func run(_ errand: ClientTask) async -> Observation
}
