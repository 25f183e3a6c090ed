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

    let head: VectorHead
    let host: String
    let scheme: Scheme
    let addresses: [Address]
    /// What becomes of each address, in the same order.
    let endings: [Ending]
    /// What becomes of the request; the last ending of an address that was tried, if absent.
    let ending: Ending

    enum Scheme: String, CaseIterable, Sendable {
        case http, https
    }

    init(_ head: VectorHead, _ fields: inout Fields) throws(FieldFault) {
        self.head = head
        host = try fields.optional("host", Read.text) ?? "good.test"
        scheme = try fields.optional("scheme", Read.choice) ?? .https
        let addresses = try fields.required("addresses", Read.list(of: Address.init))
        self.addresses = addresses
        let line = fields.line
        (endings, ending) = try fields.required("expect") { value throws(FieldFault) in
            var fields = try Fields(value)
            let endings = try fields.required("addresses", Read.list(of: Ending.read))
            let ending = try fields.optional("ending", Ending.read)
            try fields.end()
            guard let result = ending ?? endings.last(where: { $0 != .untried }) else {
                throw FieldFault(line: value.line, what: "an ending is needed where no address is tried")
            }
            return (endings, result)
        }
        guard endings.count == addresses.count else {
            throw FieldFault(line: line, what: "\(addresses.count) addresses and \(endings.count) endings")
        }
    }

    var mentions: Mentions {
        Mentions(
            certificates: addresses.compactMap(\.certificate),
            servers: addresses.compactMap(\.server)
        )
    }
}
