internal import DirectJSON

/// A test of connection establishment: several addresses for one host, and what must happen at each of them.
struct RouteVector: TopicVector, Checked {
    /// The source of an address.
    enum Source: String, Choice {
        /// The `addresses` of the request.
        case request
        /// The client's own map from names to addresses.
        case map
    }

    /// An address and the server that listens on it.
    struct Address: Checked, Sendable {
        /// The text to give to the client, which need not be a valid address. `nil` uses an address derived
        /// from the position in the list.
        var text: String?
        /// The name of a server in `servers.json`. `nil` if the text is not an address.
        var server: String?
        /// The certificate to serve instead of the server's own.
        var certificate: String?
        @Or<Request> var source: Source
        /// Whether the address has its own port, different from the URL's.
        @Or<False> var hasOwnPort: Bool

        var fault: String? {
            server == nil && text == nil ? "a server or an invalid address is required" : nil
        }

        private enum CodingKeys: String, CodingKey {
            case text = "address", server, certificate, source, hasOwnPort = "ownPort"
        }

        enum Request: Fallback { static let value = Source.request }
    }

    /// The client's settings for trying addresses.
    struct Dialling: MayBeAbsent, Sendable {
        /// The delay before the next address is tried, in milliseconds. The default is long so that a busy
        /// machine is not taken for an unresponsive address.
        @Or<LongStagger> var stagger: Int
        @Or<False> var keepsOrder: Bool
        @Or<False> var passesOverWrongServers: Bool

        init() {}

        enum LongStagger: Fallback { static let value = 2000 }

        /// Whether the settings differ from what clients do by default, so that the client needs an option
        /// for them.
        var isOfAnotherKind: Bool { keepsOrder || passesOverWrongServers }
    }

    var head: VectorHead
    @Or<Host> var host: String
    @Or<HTTPS> var scheme: Scheme
    /// The content of a POST. `nil` is a GET.
    var post: [UInt8]?
    private(set) var addresses: [Address]
    let dialling: Dialling
    /// The expected outcome at each address, in the same order.
    var endings: [Ending] { expect.addresses }
    /// The expected outcome of the request. If the file gives none: answered if an address answers, else the
    /// outcome at the last address that was tried.
    var ending: Ending { expect.ending }
    /// The time limit of the request in milliseconds, or `nil` if the time is not checked.
    var within: Int? { expect.within }
    /// The number of requests that reach all servers together, if all attempts are judged together.
    var requests: Int { expect.requests }
    private let expect: Expectation

    enum Scheme: String, Choice {
        case http, https
    }

    var fault: String? {
        endings.count == addresses.count
            ? nil : "\(addresses.count) addresses and \(endings.count) endings"
    }

    private struct Expectation: Decodable, Sendable {
        let addresses: [Ending]
        let ending: Ending
        let within: Int?
        let requests: Int

        init(from decoder: any Decoder) throws {
            let members = try decoder.strict
            addresses = try members.required("addresses")
            within = try members.optional("within")
            requests = try members.optional("requests") ?? 1
            let last = addresses.last { $0 != .untried && $0 != .fault(.overtaken) }
            let usual = addresses.contains(.answered) ? .answered : last
            guard let ending = try members.optional("ending") ?? usual else {
                throw members.value.fault("an ending is required if no address is tried")
            }
            self.ending = ending
        }
    }

    enum Host: Fallback { static let value = "good.test" }
    enum HTTPS: Fallback { static let value = Scheme.https }

    /// Whether other load on the machine can make the vector fail.
    var isAboutTime: Bool { within != nil || dialling.stagger < Dialling().stagger }

    /// Whether all attempts are judged together, whichever of them is answered.
    var isAboutAll: Bool { head.topic == .eyeballs }

    /// The vector with the address alone that answers. Its time is that of the machine and the client.
    var alone: RouteVector? {
        guard within != nil else { return nil }
        var vector = self
        vector.addresses = [addresses[endings.firstIndex(of: .answered) ?? 0]]
        return vector
    }

    /// Whether no time passes but the stagger, or in strict order the limits, of addresses that say nothing.
    var isOfStaggers: Bool { dialling.keepsOrder || !([ending] + endings).contains(.fault(.timeout)) }

    var mentions: Mentions {
        Mentions(
            certificates: addresses.compactMap(\.certificate),
            servers: addresses.compactMap(\.server)
        )
    }
}
