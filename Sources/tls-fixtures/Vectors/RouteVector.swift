internal import DirectJSON

/// Several addresses for one name: which of them answers, and what becomes of the others.
struct RouteVector: Sendable {
    /// Who names an address.
    enum Source: String, CaseIterable, Sendable {
        /// The request itself.
        case request
        /// The client's own map of names.
        case map
    }

    struct Address: Sendable {
        /// Given as text, whether it is an address or not; else the vector's place in the list makes one.
        var text: String?
        /// One of `servers.json`; nothing if the text is no address.
        var server: String?
        /// Instead of the server's own.
        var certificate: String?
        var source: Source
        /// Whether the address comes with a port of its own, other than the URL's.
        var hasOwnPort: Bool

        init(_ value: JSONValue) throws(FieldFault) {
            var fields = try Fields(value)
            text = try fields.optional("address", Read.text)
            server = try fields.optional("server", Read.text)
            certificate = try fields.optional("certificate", Read.text)
            source = try fields.optional("source", Read.choice) ?? .request
            hasOwnPort = try fields.optional("ownPort", Read.flag) ?? false
            guard server != nil || text != nil else {
                throw FieldFault(line: value.line, what: "an address needs a server, or a text that is none")
            }
            try fields.end()
        }
    }

    /// How the client is told to try addresses.
    struct Dialling: Sendable {
        /// Milliseconds from one address to the next. Long by default: a busy machine is no silent address.
        var stagger = 2000
        var keepsOrder = false
        var passesOverWrongServers = false

        init() {}

        init(_ value: JSONValue) throws(FieldFault) {
            var fields = try Fields(value)
            stagger = try fields.optional("stagger", Read.integer) ?? stagger
            keepsOrder = try fields.optional("keepsOrder", Read.flag) ?? keepsOrder
            passesOverWrongServers =
                try fields.optional("passesOverWrongServers", Read.flag) ?? passesOverWrongServers
            try fields.end()
        }

        /// Whether a client must be told, as none does so by itself.
        var isOfAnotherKind: Bool { keepsOrder || passesOverWrongServers }
    }

    let head: VectorHead
    let host: String
    let scheme: Scheme
    let addresses: [Address]
    let dialling: Dialling
    /// What becomes of each address, in the same order.
    let endings: [Ending]
    /// What becomes of the request; the last ending of an address that was tried, if absent.
    let ending: Ending
    /// How many milliseconds it may take; not judged if absent.
    let within: Int?

    enum Scheme: String, CaseIterable, Sendable {
        case http, https
    }

    init(_ head: VectorHead, _ fields: inout Fields) throws(FieldFault) {
        self.head = head
        host = try fields.optional("host", Read.text) ?? "good.test"
        scheme = try fields.optional("scheme", Read.choice) ?? .https
        let addresses = try fields.required("addresses", Read.list(of: Address.init))
        self.addresses = addresses
        dialling = try fields.optional("dialling", Dialling.init) ?? Dialling()
        let line = fields.line
        (endings, ending, within) = try fields.required("expect") { value throws(FieldFault) in
            var fields = try Fields(value)
            let endings = try fields.required("addresses", Read.list(of: Ending.read))
            let ending = try fields.optional("ending", Ending.read)
            let within: Int? = try fields.optional("within", Read.integer)
            try fields.end()
            let last = endings.last { $0 != .untried && $0 != .fault(.overtaken) }
            guard let result = ending ?? (endings.contains(.answered) ? .answered : last) else {
                throw FieldFault(line: value.line, what: "an ending is needed where no address is tried")
            }
            return (endings, result, within)
        }
        guard endings.count == addresses.count else {
            throw FieldFault(line: line, what: "\(addresses.count) addresses and \(endings.count) endings")
        }
    }

    /// Whether a machine that is busy elsewhere can spoil it.
    var isAboutTime: Bool { within != nil || dialling.stagger < Dialling().stagger }

    var mentions: Mentions {
        Mentions(
            certificates: addresses.compactMap(\.certificate),
            servers: addresses.compactMap(\.server)
        )
    }
}
