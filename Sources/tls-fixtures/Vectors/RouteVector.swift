internal import DirectJSON

/// A test of connection establishment: several addresses for one host, and what must happen at each of them.
struct RouteVector: Sendable {
    /// The source of an address.
    enum Source: String, CaseIterable, Sendable {
        /// The `addresses` of the request.
        case request
        /// The client's own map from names to addresses.
        case map
    }

    /// An address and the server that listens on it.
    struct Address: Sendable {
        /// The text to give to the client, which need not be a valid address. `nil` uses an address derived from
        /// the position in the list.
        var text: String?
        /// The name of a server in `servers.json`. `nil` if the text is not an address.
        var server: String?
        /// The certificate to serve instead of the server's own.
        var certificate: String?
        var source: Source
        /// Whether the address has its own port, different from the URL's.
        var hasOwnPort: Bool

        init(_ value: JSONValue) throws(FieldError) {
            var fields = try Fields(value)
            text = try fields.optional("address", read: Read.text)
            server = try fields.optional("server", read: Read.text)
            certificate = try fields.optional("certificate", read: Read.text)
            source = try fields.optional("source", read: Read.choice) ?? .request
            hasOwnPort = try fields.optional("ownPort", read: Read.flag) ?? false
            guard server != nil || text != nil else {
                throw FieldError(line: value.line, what: "a server or an invalid address is required")
            }
            try fields.end()
        }
    }

    /// The client's settings for trying addresses.
    struct Dialling: Sendable {
        /// The delay before the next address is tried, in milliseconds. The default is long so that a busy machine
        /// is not taken for an unresponsive address.
        var stagger = 2000
        var keepsOrder = false
        var passesOverWrongServers = false

        init() {}

        init(_ value: JSONValue) throws(FieldError) {
            var fields = try Fields(value)
            stagger = try fields.optional("stagger", read: Read.integer) ?? stagger
            keepsOrder = try fields.optional("keepsOrder", read: Read.flag) ?? keepsOrder
            passesOverWrongServers =
                try fields.optional("passesOverWrongServers", read: Read.flag) ?? passesOverWrongServers
            try fields.end()
        }

        /// Whether the settings differ from what clients do by default, so that the client needs an option for
        /// them.
        var isOfAnotherKind: Bool { keepsOrder || passesOverWrongServers }
    }

    let head: VectorHead
    let host: String
    let scheme: Scheme
    let addresses: [Address]
    let dialling: Dialling
    /// The expected outcome at each address, in the same order.
    let endings: [Ending]
    /// The expected outcome of the request. If the file gives none: answered if an address answers, else the
    /// outcome at the last address that was tried.
    let ending: Ending
    /// The time limit of the request in milliseconds, or `nil` if the time is not checked.
    let within: Int?

    enum Scheme: String, CaseIterable, Sendable {
        case http, https
    }

    init(_ head: VectorHead, _ fields: inout Fields) throws(FieldError) {
        self.head = head
        host = try fields.optional("host", read: Read.text) ?? "good.test"
        scheme = try fields.optional("scheme", read: Read.choice) ?? .https
        let addresses = try fields.required("addresses", read: Read.list(of: Address.init))
        self.addresses = addresses
        dialling = try fields.optional("dialling", read: Dialling.init) ?? Dialling()
        let line = fields.line
        (endings, ending, within) = try fields.required("expect") { value throws(FieldError) in
            var fields = try Fields(value)
            let endings = try fields.required("addresses", read: Read.list(of: Ending.read))
            let ending = try fields.optional("ending", read: Ending.read)
            let within: Int? = try fields.optional("within", read: Read.integer)
            try fields.end()
            let last = endings.last { $0 != .untried && $0 != .fault(.overtaken) }
            guard let result = ending ?? (endings.contains(.answered) ? .answered : last) else {
                throw FieldError(line: value.line, what: "an ending is required if no address is tried")
            }
            return (endings, result, within)
        }
        guard endings.count == addresses.count else {
            throw FieldError(line: line, what: "\(addresses.count) addresses and \(endings.count) endings")
        }
    }

    /// Whether other load on the machine can make the vector fail.
    var isAboutTime: Bool { within != nil || dialling.stagger < Dialling().stagger }

    var mentions: Mentions {
        Mentions(
            certificates: addresses.compactMap(\.certificate),
            servers: addresses.compactMap(\.server)
        )
    }
}
