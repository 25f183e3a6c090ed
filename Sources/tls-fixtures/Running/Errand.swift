/// What a client is asked to do for one vector.
struct Errand: Sendable {
    /// Got one after the other, each over a connection of its own; the last one counts.
    var urls: [String]
    /// The name or address in the URL, without brackets.
    var host: String
    var port: UInt16
    /// Where to go, as texts that may have a port; nothing if the request does not say.
    var addresses: [String]?
    /// Where the client's own map says to go.
    var mappedAddresses: [String] = []
    var client = HandshakeVector.ClientSide()
    var dialling = RouteVector.Dialling()
    /// The folder with the client's certificates, and the root it trusts.
    var certificates: String

    /// The file with the only root that the client trusts.
    var root: String { "\(certificates)/root.pem" }
}

/// What a client says it has come to.
struct Observation: Sendable {
    var ending: Ending
    /// The content of the response, or the client's own words for the failure.
    var text: String
    /// What the client says about the addresses it tried, in that order; nothing if it does not say.
    var attempts: [(address: String, ending: Ending)]?
}

/// A client that the vectors are run against.
protocol VectorClient: Sendable {
    /// What the table calls it.
    var title: String { get }
    /// Whether it says why something failed in the vectors' words; else only success and failure count.
    var givesReasons: Bool { get }
    /// Whether vectors of bytes can be shown to it: only our own codec has no network around it.
    var takesBytes: Bool { get }
    /// How many errands it does at the same time.
    var width: Int { get }
    /// Why the client cannot show what the vector is about; nothing if it can.
    func obstacle(to errand: Errand) -> String?
    func run(_ errand: Errand) async -> Observation
}
