internal import DirectHTTP
internal import TLSFixtures

extension RedirectVector {
    /// Runs the vector over real connections to two fixture servers, one with TLS and one without. Returns `nil` if
    /// the vector cannot be run that way.
    func networkDifferences() async throws -> [Difference]? {
        guard isFitForNetwork else { return nil }
        let script = ServedScript(answers)
        let secure = try FixtureServer.start(.tls(Self.certificate)) {
            try script.answer($0, scheme: "https")
        }
        let plain = try FixtureServer.start(.plain) { try script.answer($0, scheme: "http") }
        let client = HTTPClient { settings in
            self.settings.apply(to: &settings)
            settings.tls.roots = .only([.der(Self.authority.rootDER)])
            settings.resolver = SchemeResolver(
                secure: Endpoint(stringLiteral: secure.authority),
                plain: Endpoint(stringLiteral: plain.authority)
            )
        }
        return await differences(of: client) { script.requests }
    }

    /// Whether the vector can be run over real connections: its URLs have names rather than addresses, it uses no
    /// CONNECT, and its field values are valid, since an invalid one is refused before the redirect is looked at.
    private var isFitForNetwork: Bool {
        let urls = [question.url] + sent.map(\.url)
        let areNames = !urls.contains { $0.contains("192.0.2.") || $0.contains("[") }
        let values = answers.flatMap(\.fields).map(\.value)
        let areSound = values.allSatisfy { $0.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 9 } }
        return question.addresses == nil && question.method != "CONNECT" && areNames && areSound
    }

    private static let authority = TestAuthority()
    private static let certificate = authority.certificate(
        for: "a.test",
        "b.test",
        "c.test",
        "x.a.test",
        "evila.test"
    )
}

/// Resolves every name with port 80 to the plain server, and with any other port to the TLS server.
private struct SchemeResolver: Resolver {
    let secure: Endpoint
    let plain: Endpoint

    var name: String { "vectors" }

    func resolve(_ host: DomainName, port: UInt16, context: ResolveContext) async throws -> Resolution {
        Resolution([port == 80 ? plain : secure], source: .resolver(name))
    }
}

/// Gives the answers in turn and records the requests.
private final class ServedScript: Sendable {
    private let seen = Locked<[RedirectVector.Seen]>([])
    private let answers: [RedirectVector.Answer]

    init(_ answers: [RedirectVector.Answer]) {
        self.answers = answers
    }

    var requests: [RedirectVector.Seen] { seen.withLock { $0 } }

    func answer(_ request: FixtureRequest, scheme: String) throws -> FixtureReply {
        let text = try request.text
        let seen = RedirectVector.Seen(
            method: request.method,
            url: "\(scheme)://\(request.host ?? "nobody")\(request.target)",
            fields: request.headers.fields.map { ($0.name, $0.value) },
            body: text.isEmpty ? "none" : text,
            isFromNetwork: true
        )
        let index = self.seen.withLock { all in
            all.append(seen)
            return all.count - 1
        }
        guard index < answers.count else { return .status(200) }
        var bytes = Array("HTTP/1.1 \(answers[index].status) X\r\nContent-Length: 0\r\n".utf8)
        for field in answers[index].fields {
            bytes += Array("\(field.name): ".utf8) + field.value + Array("\r\n".utf8)
        }
        return .raw(bytes + Array("\r\n".utf8))
    }
}
