internal import DirectJSON
internal import TLSFixtures

/// A server in `servers.json`: how it accepts connections, speaks TLS and answers.
struct ServerSetup: Checked, Sendable {
    /// The server's behaviour towards a connecting client.
    enum Connecting: String, Choice {
        /// Connections are accepted.
        case accepted
        /// Connections are refused, since nothing listens on the port.
        case refused
        /// Connecting hangs, since there is no answer.
        case unanswered
    }

    /// Whether the server requests a client certificate.
    enum ClientCertificates: String, Choice {
        case none, requested, required
    }

    var name: String
    var about: String
    @Or<Accepted> var connecting: Connecting
    @Or<True> var speaksTLS: Bool
    /// The certificates to choose from by SNI. The first is the default.
    @Or<Good> var certificates: [String]
    @Or<Modern> var versions: ClosedRange<ProtocolVersion>
    @Or<DefaultCertificate> var unknownName: FixtureTLSSettings.Answer
    @Or<DefaultCertificate> var missingName: FixtureTLSSettings.Answer
    @Or<Two> var tickets: Int
    @Or<Unwanted> var clientCertificates: ClientCertificates
    @Or<HTTP11> var protocols: [String]
    var forcedProtocol: String?
    @Or<False> var refusesOtherProtocols: Bool
    /// The name of a file with an OCSP response to staple.
    var staple: String?
    var ciphers: String?
    var groups: String?
    @Or<False> var allowsRenegotiation: Bool
    /// The steps to run instead of an HTTP server.
    var script: [ByteScript.Step]?

    private enum CodingKeys: String, CodingKey {
        case name, about, connecting, speaksTLS = "tls", certificates, versions, unknownName, missingName,
            tickets
        case clientCertificates, protocols, forcedProtocol, refusesOtherProtocols, staple, ciphers, groups
        case allowsRenegotiation = "renegotiation", script
    }

    enum Accepted: Fallback { static let value = Connecting.accepted }
    enum Good: Fallback { static let value = ["good"] }
    enum Modern: Fallback { static let value = ProtocolVersion.tls12 ... .tls13 }
    enum DefaultCertificate: Fallback { static let value = FixtureTLSSettings.Answer.defaultCertificate }
    enum Two: Fallback { static let value = 2 }
    enum Unwanted: Fallback { static let value = ClientCertificates.none }
    enum HTTP11: Fallback { static let value = ["http/1.1"] }

    /// Creates an ordinary HTTPS server.
    init(name: String, about: String = "") {
        self.name = name
        self.about = about
    }

    var fault: String? { certificates.isEmpty ? "certificates: the list is empty" : nil }

    /// The files in `certificates` that the server needs.
    var certificateFiles: [String] {
        certificates.map { "\($0).pem" } + (staple.map { [$0] } ?? [])
    }
}

extension FixtureTLSSettings.Answer: FromJSON {
    init(_ value: JSONValue) throws(FieldError) {
        switch try value.text() {
        case "default": self = .defaultCertificate
        case "warning": self = .warning
        case "close": self = .close
        case "reset": self = .reset
        case let text:
            guard text.hasPrefix("alert "), let number = UInt8(text.dropFirst(6)) else {
                throw value.unknown(text, known: "default, alert N, warning, close, reset")
            }
            self = .alert(number)
        }
    }
}

extension ByteScript.Step: Decodable {
    /// Reads a step: a word, or an object with one member.
    init(from decoder: any Decoder) throws {
        let members = try decoder.strict
        if case .string(let word) = members.value.content {
            self = try Self.step(word, line: members.value.line)
            return
        }
        let steps: [Self?] = [
            try members.optional("send").map { .bytes($0) },
            try members.optional("raw").map { .rawBytes($0) },
            try members.optional("alert").map { .alert($0) },
            try members.optional("awaitBytes").map { .awaitBytes($0) },
            try members.optional("mute").map { .mute(afterBytes: $0) },
            try members.optional("updateKeys").map { .updateKeys(times: $0) },
            try members.optional("pause", as: Int.self).map { .pause(.milliseconds($0)) },
        ]
        let given = steps.compactMap(\.self)
        guard given.count == 1 else {
            throw members.value.fault(
                "a step has exactly one of send, raw, alert, awaitBytes, mute, updateKeys and pause"
            )
        }
        self = given[0]
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
