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
        server = try fields.required("server", Read.text)
        names = try fields.optional("names", Read.texts) ?? ["good.test"]
        client = try fields.optional("client", ClientSide.init) ?? ClientSide()
        expect = try fields.required("expect", Expectation.init)
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
            versions = try fields.optional("versions", Read.versions)
            certificate = try fields.optional("certificate", Read.text)
            resumes = try fields.optional("resumes", Read.flag) ?? true
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
            endings = try fields.required("ending", Ending.readOneOrMore)
            content = try fields.optional("content", Read.text)
            version = try fields.optional("version", Read.version)
            chosenProtocol = try fields.optional("protocol", Read.textOrNull)
            offeredProtocols = try fields.optional("offeredProtocols", Read.texts)
            serverName = try fields.optional("serverName", Read.textOrNull)
            isResumed = try fields.optional("resumed", Read.flag)
            offersResumption = try fields.optional("offersResumption", Read.flag)
            offersEarlyData = try fields.optional("offersEarlyData", Read.flag)
            clientCertificate = try fields.optional("clientCertificate", Read.textOrNull)
            hasSentRequest = try fields.optional("requestSent", Read.flag)
            try fields.end()
        }
    }
}
