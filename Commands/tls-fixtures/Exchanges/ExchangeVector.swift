internal import DirectJSON
internal import TLSFixtures

/// A test of whole exchanges: servers and proxies whose answers are scripted, the requests that a client is
/// told to make, and what must arrive at each server.
struct ExchangeVector: TopicVector {
    /// A server or a proxy.
    struct Server: Decodable, Sendable {
        var name: String
        /// The hosts with ports that lead to it.
        @OrEmpty var hosts: [String]
        /// The loopback address that it listens on.
        @Or<Loopback> var address: String
        /// The names and addresses of its certificate. `nil`: it has no TLS.
        var certificate: [String]?
        /// The answer to requests without a field.
        var challenge: Challenge?
        /// The answers to all other requests in turn.
        @OrEmpty var answers: [Answer]
        /// The answer to all that follow. `nil`: 200 with `ok`.
        var lastAnswer: Answer?

        private enum CodingKeys: String, CodingKey {
            case name, hosts = "for", address, certificate, challenge, answers
            case lastAnswer = "then"
        }

        enum Loopback: Fallback { static let value = "127.0.0.1" }
    }

    /// The answer to requests that lack a field. They are not among those that a vector expects.
    struct Challenge: Decodable, Sendable {
        var field: String
        var answer: [UInt8]

        private enum CodingKeys: String, CodingKey { case field = "unless", answer }
    }

    /// An answer, byte for byte.
    enum Answer: Sendable {
        /// Sent when the whole request has arrived.
        case bytes([UInt8], then: FixtureReply.Ending)
        /// Sent as soon as the head has arrived.
        case early([UInt8])
        /// Sent by a proxy that then connects the client with the server.
        case tunnel([UInt8])
        case script(ByteScript)
    }

    /// A request as it must arrive.
    struct Arrival: Decodable, Sendable {
        var server: String
        /// Method and target.
        var line: String
        /// The version of HTTP, such as `1.1`; `nil` if any will do.
        var version: String?
        /// Fields with their values, joined by commas. `nil`: there must be none.
        @Pairs var fields: [(name: String, value: String?)]
        /// Fields that must be there, whatever their values are.
        @OrEmpty var present: [String]
        /// Fields that are lists, each with an element that it must have, in lower case.
        @Pairs var elements: [(name: String, value: String)]
        /// The name in the client's hello; `none` if there must be none.
        var serverName: String?
        var body: [UInt8]?
        /// The number of the connection on its server.
        var connection: Int?
        var digest: DigestAnswer?
        /// Whether the lists in its fields have no empty elements, and no blanks around equals signs.
        @Or<False> var isInForm: Bool
        /// Whether its content must follow the head without a wait.
        @Or<False> var isPrompt: Bool

        private enum CodingKeys: String, CodingKey {
            case server = "at", line, version, fields = "headers", present = "has",
                elements = "lists", serverName = "sni"
            case body, connection, digest, isInForm = "form", isPrompt = "prompt"
        }
    }

    /// What a request must give its caller.
    struct Result: Decodable, Sendable {
        @Or<False> var isError: Bool
        var status: Int?
        var body: [UInt8]?
        /// The server-sent events of the content: type, data and last id of each.
        var events: [[String]]?

        private enum CodingKeys: String, CodingKey { case isError = "error", status, body, events }
    }

    /// All that must come of the requests.
    struct Expectation: Decodable, Sendable {
        /// The requests at all servers in the order in which they arrive.
        @OrEmpty var requests: [Arrival]
        /// Whether equal requests that follow each other count as one.
        @Or<False> var isRepeatable: Bool
        /// The results, or `nil` if any will do.
        var results: [Result]?
        /// The servers to which the client must send no byte but those of its requests.
        @OrEmpty var exact: [String]
        /// The servers whose connections the client must not cut without close_notify.
        @OrEmpty var notified: [String]

        private enum CodingKeys: String, CodingKey {
            case requests, isRepeatable = "repeated", results, exact, notified
        }
    }

    var head: VectorHead
    let servers: [Server]
    let settings: Job.Settings
    @OrEmpty var kept: [Job.Kept]
    let requests: [Job.Request]
    private let expect: RightAnswers<Expectation>
    /// Every right result. This package's client has the first.
    var answers: [Expectation] { expect.all }

    private enum CodingKeys: String, CodingKey {
        case head, servers, settings, kept = "keep", requests, expect
    }
}

extension ExchangeVector.Answer: FromJSON {
    /// Reads bytes, or an object with one member.
    init(_ value: JSONValue) throws(FieldError) {
        guard case .object(let members) = value.content, let member = members.first else {
            self = .bytes(try value.bytes(), then: .keep)
            return
        }
        switch member.name {
        case "close": self = .bytes(try member.value.bytes(), then: .closeUnannounced)
        case "open": self = .bytes(try member.value.bytes(), then: .leaveOpen)
        case "cut": self = .bytes(try member.value.bytes(), then: .cut)
        case "early": self = .early(try member.value.bytes())
        case "tunnel": self = .tunnel(try member.value.bytes())
        case "script": self = .script(ByteScript(try StrictDecoder.decode(from: member.value)))
        default: throw value.unknown(member.name, known: "close, open, cut, early, tunnel, script")
        }
    }
}
