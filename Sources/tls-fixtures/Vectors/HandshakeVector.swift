internal import DirectJSON

/// A test of TLS handshakes: a server, the client's settings, and the outcome.
struct HandshakeVector: Sendable {
    let head: VectorHead
    /// The name of a server in `servers.json`.
    let server: String
    /// The hosts to request in turn, each on a new connection.
    let names: [String]
    let client: ClientSide
    let expect: Expectation

    init(_ head: VectorHead, _ fields: inout Fields) throws(FieldError) {
        self.head = head
        server = try fields.required("server", read: Read.text)
        names = try fields.optional("names", read: Read.texts) ?? ["good.test"]
        client = try fields.optional("client", read: ClientSide.init) ?? ClientSide()
        expect = try fields.required("expect", read: Expectation.init)
        guard !names.isEmpty else { throw FieldError(line: fields.line, what: "names: the list is empty") }
    }

    var mentions: Mentions {
        Mentions(certificates: client.certificate.map { [$0] } ?? [], servers: [server])
    }

    /// The client's TLS settings.
    struct ClientSide: Sendable {
        var versions: ClosedRange<ProtocolVersion>?
        /// The certificate to send to a server that requests one.
        var certificate: String?
        var resumes = true

        init() {}

        init(_ value: JSONValue) throws(FieldError) {
            var fields = try Fields(value)
            versions = try fields.optional("versions", read: Read.versions)
            certificate = try fields.optional("certificate", read: Read.text)
            resumes = try fields.optional("resumes", read: Read.flag) ?? true
            try fields.end()
        }
    }

    /// The expected outcome of the last request. All earlier requests must be answered.
    struct Expectation: Sendable {
        var endings: [Ending]
        var content: String?
        /// The TLS version that the server saw. The values below are also the server's view.
        var version: ProtocolVersion?
        var chosenProtocol: String??
        var offeredProtocols: [String]?
        var serverName: String??
        var isResumed: Bool?
        var offersResumption: Bool?
        var offersEarlyData: Bool?
        var clientCertificate: String??
        /// Whether the server has received application data.
        var hasSentRequest: Bool?

        init(_ value: JSONValue) throws(FieldError) {
            var fields = try Fields(value)
            endings = try fields.required("ending", read: Ending.readOneOrMore)
            content = try fields.optional("content", read: Read.text)
            version = try fields.optional("version", read: Read.version)
            chosenProtocol = try fields.optional("protocol", read: Read.textOrNull)
            offeredProtocols = try fields.optional("offeredProtocols", read: Read.texts)
            serverName = try fields.optional("serverName", read: Read.textOrNull)
            isResumed = try fields.optional("resumed", read: Read.flag)
            offersResumption = try fields.optional("offersResumption", read: Read.flag)
            offersEarlyData = try fields.optional("offersEarlyData", read: Read.flag)
            clientCertificate = try fields.optional("clientCertificate", read: Read.textOrNull)
            hasSentRequest = try fields.optional("requestSent", read: Read.flag)
            try fields.end()
        }
    }
}
