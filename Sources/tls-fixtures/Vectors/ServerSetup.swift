internal import DirectJSON
internal import TLSFixtures

/// A server in `servers.json`: how it accepts connections, speaks TLS and answers.
struct ServerSetup: Sendable {
    /// The server's behaviour towards a connecting client.
    enum Connecting: String, CaseIterable, Sendable {
        /// Connections are accepted.
        case accepted
        /// Connections are refused, since nothing listens on the port.
        case refused
        /// Connecting hangs, since there is no answer.
        case unanswered
    }

    /// Whether the server requests a client certificate.
    enum ClientCertificates: String, CaseIterable, Sendable {
        case none, requested, required
    }

    var name: String
    var about: String
    var connecting = Connecting.accepted
    var speaksTLS = true
    /// The certificates to choose from by SNI. The first is the default.
    var certificates = ["good"]
    var versions = ProtocolVersion.tls12 ... .tls13
    var unknownName = FixtureTLSSettings.Answer.defaultCertificate
    var missingName = FixtureTLSSettings.Answer.defaultCertificate
    var tickets = 2
    var clientCertificates = ClientCertificates.none
    var protocols = ["http/1.1"]
    var forcedProtocol: String?
    var refusesOtherProtocols = false
    /// The name of a file with an OCSP response to staple.
    var staple: String?
    var ciphers: String?
    var groups: String?
    var allowsRenegotiation = false
    /// The steps to run instead of an HTTP server.
    var script: [ByteScript.Step]?

    /// Creates an ordinary HTTPS server.
    init(name: String, about: String = "") {
        self.name = name
        self.about = about
    }

    init(_ value: JSONValue) throws(FieldError) {
        var fields = try Fields(value)
        name = try fields.required("name", read: Read.text)
        about = try fields.required("about", read: Read.text)
        connecting = try fields.optional("connecting", read: Read.choice) ?? connecting
        speaksTLS = try fields.optional("tls", read: Read.flag) ?? speaksTLS
        certificates = try fields.optional("certificates", read: Read.texts) ?? certificates
        versions = try fields.optional("versions", read: Read.versions) ?? versions
        unknownName = try fields.optional("unknownName", read: Self.answer) ?? unknownName
        missingName = try fields.optional("missingName", read: Self.answer) ?? missingName
        tickets = try fields.optional("tickets", read: Read.integer) ?? tickets
        clientCertificates =
            try fields.optional("clientCertificates", read: Read.choice) ?? clientCertificates
        protocols = try fields.optional("protocols", read: Read.texts) ?? protocols
        forcedProtocol = try fields.optional("forcedProtocol", read: Read.text)
        refusesOtherProtocols =
            try fields.optional("refusesOtherProtocols", read: Read.flag) ?? refusesOtherProtocols
        staple = try fields.optional("staple", read: Read.text)
        ciphers = try fields.optional("ciphers", read: Read.text)
        groups = try fields.optional("groups", read: Read.text)
        allowsRenegotiation = try fields.optional("renegotiation", read: Read.flag) ?? allowsRenegotiation
        script = try fields.optional("script", read: Read.list(of: ByteScript.Step.init))
        guard !certificates.isEmpty else {
            throw FieldError(line: fields.line, what: "certificates: the list is empty")
        }
        try fields.end()
    }

    /// The files in `certificates` that the server needs.
    var certificateFiles: [String] {
        certificates.map { "\($0).pem" } + (staple.map { [$0] } ?? [])
    }

    private static func answer(_ value: JSONValue) throws(FieldError) -> FixtureTLSSettings.Answer {
        switch try Read.text(value) {
        case "default": return .defaultCertificate
        case "warning": return .warning
        case "close": return .close
        case "reset": return .reset
        case let text:
            guard text.hasPrefix("alert "), let number = UInt8(text.dropFirst(6)) else {
                throw FieldError(
                    line: value.line,
                    what: "\"\(text)\" is not one of default, alert N, warning, close, reset"
                )
            }
            return .alert(number)
        }
    }
}

extension ByteScript.Step {
    /// Reads a step: a word, or an object with one member.
    init(_ value: JSONValue) throws(FieldError) {
        if case .string(let word) = value.content {
            self = try Self.step(word, line: value.line)
            return
        }
        var fields = try Fields(value)
        var steps: [Self] = []
        func add(_ step: Self?) { if let step { steps.append(step) } }
        add(try fields.optional("send") { value throws(FieldError) in .bytes(try Read.bytes(value)) })
        add(try fields.optional("raw") { value throws(FieldError) in .rawBytes(try Read.bytes(value)) })
        add(try fields.optional("alert") { value throws(FieldError) in .alert(try Read.integer(value)) })
        add(
            try fields.optional("mute") { value throws(FieldError) in
                .mute(afterBytes: try Read.integer(value))
            }
        )
        add(
            try fields.optional("updateKeys") { value throws(FieldError) in
                .updateKeys(times: try Read.integer(value))
            }
        )
        let pause: Int? = try fields.optional("pause", read: Read.integer)
        add(pause.map { .pause(.milliseconds($0)) })
        let line = fields.line
        try fields.end()
        guard let step = steps.first, steps.count == 1 else {
            throw FieldError(
                line: line,
                what: "a step has exactly one of send, raw, alert, mute, updateKeys and pause"
            )
        }
        self = step
    }

    private static func step(_ word: String, line: Int) throws(FieldError) -> Self {
        switch word {
        case "awaitHead": return .awaitHead
        case "awaitArrival": return .awaitArrival
        case "awaitClose": return .awaitClose
        case "handshake": return .handshake
        case "askForNewKeys": return .askForNewKeys
        case "closeNotify": return .closeNotify
        case "halfClose": return .halfClose
        case "cut": return .cut
        case "reset": return .reset
        case "stall": return .stall
        default: throw FieldError(line: line, what: "there is no step \"\(word)\"")
        }
    }
}
