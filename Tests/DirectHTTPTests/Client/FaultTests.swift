import DirectHTTP
import DirectTestCommands
import TLSFixtures
import Testing

@Suite("Faults of servers and connections", .idleLimit)
struct FaultTests {
    private let secure = FixtureSecurity.tls(testAuthority.certificate(for: "a.test"))

    /// The result of a request to such a server.
    private func error(
        from script: ByteScript,
        _ security: FixtureSecurity = .plain,
        _ request: Request? = nil,
        _ location: SourceLocation = #_sourceLocation
    ) async throws -> HTTPError {
        let server = try FixtureServer.scripted(script, security)
        let isPlain = if case .plain = security { true } else { false }
        var request = request ?? Request(.get, isPlain ? "http://a.test/" : "https://a.test/")
        request.addresses = [server.endpoint]
        let error = try await httpError(location) { [request] in
            try await HTTPClient.trusting().fetch(request)
        }
        #expect(error.name == "a.test" && error.endpoint == server.endpoint, sourceLocation: location)
        return error
    }

    @Test("A refused port is an error of connecting with the system's reason")
    func refused() async throws {
        let server = try FixtureServer.refusing()
        let error = try await httpError { try await HTTPClient.untimed().get(server.http()) }
        #expect(error.phase == .connect)
        #expect(error.systemError?.call == "connect")
        #expect(error.description.contains("Connection refused"), "\(error)")
        #expect(error.attempts.count == 1)
    }

    @Test(
        "A response that is not HTTP is refused at its first bytes",
        arguments: [
            ("SSH-2.0-OpenSSH_9.2\r\n", HTTP1Error.notHTTP), ("<html>", .notHTTP),
            ("\u{15}\u{3}\u{3}", .notHTTP),
            ("HTTP/2.0 200 OK\r\n\r\n", .unsupportedVersion), ("Http/1.1 200 OK\r\n\r\n", .notHTTP),
            ("HTTP/1.1 2x0 OK\r\n\r\n", .malformedStatusCode),
            ("HTTP/1.1 200 OK\r\nA@b: c\r\n\r\n", .invalidFieldName),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\n", .conflictingContentLengths),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
                .transferEncodingWithContentLength
            ),
            ("HTTP/1.1 101 Switching Protocols\r\n\r\n", .unsolicitedSwitchingProtocols),
        ] as [(String, HTTP1Error)]
    )
    func garbage(bytes: String, fault: HTTP1Error) async throws {
        // The server goes on listening: the client has to end this.
        let error = try await error(from: [.awaitHead, .send(bytes), .awaitClose])
        #expect(error.phase == .response)
        #expect(error.protocolError == fault, "\(error)")
    }

    @Test(
        "A server that sends TLS messages without data is given up, before a response and within one",
        arguments: [[], [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")]]
            as [[ByteScript.Step]]
    )
    func endlessKeys(begin: [ByteScript.Step]) async throws {
        let flood: [ByteScript.Step] = [.updateKeys(times: 10_000), .awaitClose]
        let error = try await error(from: ByteScript([.awaitHead] + begin + flood), secure)
        #expect(error.tlsError == .tooManyMessages(limit: 16), "\(error)")
        #expect(error.phase == (begin.isEmpty ? .response : .body))
    }

    @Test("A fault within a body is an error of the body, and closes the connection")
    func garbageInBody() async throws {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        let server = try FixtureServer.scripted([
            .awaitHead, .send(head + "3\r\nabc\r\nxyz\r\n"), .awaitClose,
        ])
        let error = try await httpError { try await HTTPClient.untimed().get(server.http()) }
        #expect(error.protocolError == .invalidChunkSize)
        let end = try await server.nextRecord().end
        #expect(end == .clientClosed || end == .clientReset)
    }

    @Test("Plain HTTP on a TLS port is an error of TLS, before any byte of the request")
    func plainInsteadOfTLS() async throws {
        let server = try FixtureServer.scripted(
            [.awaitArrival, .send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"), .awaitClose])
        let request = server.request("https://a.test/secret")
        let error = try await httpError { try await HTTPClient.trusting().fetch(request) }
        #expect(error.phase == .tls)
        guard case .protocolFailure? = error.tlsError else {
            Issue.record("\(error)")
            return
        }
        #expect(try await !server.nextRecord().receivedText.contains("secret"))
    }

    @Test(
        "An alert is reported with its number and name",
        arguments: [
            (40, .handshakeFailure), (112, .unrecognizedName), (80, .internalError),
            (70, .protocolVersion),
        ] as [(UInt8, TLSAlert)]
    )
    func alerts(number: UInt8, alert: TLSAlert) async throws {
        let server = try FixtureServer.scripted([.awaitArrival, .alert(number), .awaitClose])
        let error = try await httpError {
            try await HTTPClient.trusting().fetch(server.request("https://a.test/"))
        }
        #expect(error.phase == .tls)
        #expect(error.tlsError == .alertReceived(alert), "\(error)")
        #expect("\(error)".contains("alert \(number) (\(alert.name))"))
    }

    @Test("A server that refuses the name is an error with its alert")
    func unknownName() async throws {
        let security = FixtureSecurity.tls(testAuthority.certificate(for: "b.test")) {
            $0.unknownName = .alert(112)
        }
        let server = try FixtureServer.start(security) { _ in .text("never") }
        let error = try await httpError {
            try await HTTPClient.trusting().fetch(server.request("https://a.test/"))
        }
        #expect(error.tlsError == .alertReceived(.unrecognizedName))
    }

    @Test("An untrusted certificate is reported with its kind of fault, and no byte of the request is sent")
    func badCertificates() async throws {
        var expired = CertificateProfile(for: "a.test")
        expired.validity = .expired
        var early = CertificateProfile(for: "a.test")
        early.validity = .notYet
        var selfSigned = CertificateProfile(for: "a.test")
        selfSigned.isSelfSigned = true
        let stranger = TestAuthority("Stranger")
        let cases: [(FixtureCertificate, CertificateFault.Kind)] = [
            (try testAuthority.issue(expired), .expired), (try testAuthority.issue(early), .notYetValid),
            (try testAuthority.issue(selfSigned), .selfSigned),
            (stranger.certificate(for: "a.test"), .unknownIssuer),
        ]
        let client = HTTPClient.trusting()
        for (certificate, kind) in cases {
            let server = try FixtureServer.start(.tls(certificate)) { _ in .text("never") }
            let error = try await httpError { try await client.fetch(server.request("https://a.test/")) }
            #expect(error.phase == .tls)
            #expect(error.certificateFault?.kind == kind, "\(error)")
            let record = try await server.nextRecord()
            #expect(record.receivedCount == 0 && record.requests.isEmpty)
        }
    }

    @Test(
        "A connection that ends or breaks before the response is an error of that phase",
        arguments: [true, false]
    )
    func beforeResponse(isSecure: Bool) async throws {
        let security = isSecure ? secure : .plain
        let cut = try await error(from: [.awaitHead, .cut], security)
        #expect(cut.phase == .response && cut.protocolError == .closedBeforeResponse, "\(cut)")
        let reset = try await error(from: [.awaitHead, .reset], security)
        #expect(reset.phase == .response, "\(reset)")
        #expect(isSecure ? reset.tlsError == .connectionLost(errno: 104) : reset.systemError?.code == 104)
        let inHead = try await error(from: [.awaitHead, .send("HTTP/1.1 200 OK\r\nX"), .cut], security)
        #expect(inHead.phase == .response && inHead.protocolError == .truncatedHead, "\(inHead)")
    }

    @Test("A connection that is reset when it is accepted is an error")
    func resetAtOnce() async throws {
        let plain = try await error(from: [.reset])
        #expect([.connect, .write, .response].contains(plain.phase), "\(plain)")
        let inTLS = try FixtureServer.scripted([.awaitArrival, .reset])
        let error = try await httpError {
            try await HTTPClient.trusting().fetch(inTLS.request("https://a.test/"))
        }
        #expect(error.phase == .tls && error.tlsError == .connectionLost(errno: 104), "\(error)")
        let closed = try FixtureServer.scripted([.awaitArrival, .cut])
        let silent = try await httpError {
            try await HTTPClient.trusting().fetch(closed.request("https://a.test/"))
        }
        #expect(silent.phase == .tls, "\(silent)")
    }

    @Test(
        "The error for a truncated body has its lengths, with and without close_notify",
        arguments: [true, false]
    )
    func truncation(saysGoodbye: Bool) async throws {
        let ok = "HTTP/1.1 200 OK\r\n"
        let cases: [(String, HTTP1Error)] = [
            ("Content-Length: 10\r\n\r\n12345", .truncatedContent(received: 5, expected: 10)),
            ("Content-Length: 10\r\n\r\n", .truncatedContent(received: 0, expected: 10)),
            ("Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n", .truncatedChunks(received: 5)),
            ("Transfer-Encoding: chunked\r\n\r\n5\r\n123", .truncatedChunks(received: 3)),
            ("Transfer-Encoding: chunked\r\n\r\n0\r\nTrailer: x\r\n", .truncatedChunks(received: 0)),
        ]
        let end: ByteScript.Step = saysGoodbye ? .closeNotify : .cut
        for (text, fault) in cases {
            for security in [secure, .plain] {
                if case .plain = security, saysGoodbye { continue }
                let error = try await error(from: [.awaitHead, .send(ok + text), end], security)
                #expect(error.phase == .body && error.protocolError == fault, "\(error)")
            }
        }
    }

    @Test("A body until the end of the stream is complete only if it cannot have been truncated")
    func truncationUntilClose() async throws {
        let text = "HTTP/1.1 200 OK\r\n\r\n12345"
        let cut = try await error(from: [.awaitHead, .send(text), .cut], secure)
        #expect(cut.phase == .body && cut.protocolError == .truncatedUntilClose(received: 5), "\(cut)")
        for (security, end) in [(secure, ByteScript.Step.closeNotify), (.plain, .cut)] {
            let server = try FixtureServer.scripted([.awaitHead, .send(text), end], security)
            let isPlain = if case .plain = security { true } else { false }
            let request = server.request(isPlain ? "http://a.test/" : "https://a.test/")
            #expect(try await HTTPClient.trusting().fetch(request).text == "12345")
        }
        let mayReset = Gate()
        let server = try FixtureServer.scripted([.awaitHead, .send(text), .wait(mayReset), .reset])
        let response = try await HTTPClient.untimed().send(Request(.get, server.http()))
        mayReset.open()
        let reset = try await httpError { try await response.body.collect(upTo: 10) }
        #expect(reset.phase == .body && reset.systemError?.code == 104, "\(reset)")
    }

    @Test("A complete body is accepted although close_notify is missing")
    func wholeWithoutGoodbye() async throws {
        for framing in [
            "Content-Length: 2\r\n\r\nok", "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        ] {
            let server = try FixtureServer.scripted(
                [.awaitHead, .send("HTTP/1.1 200 OK\r\n" + framing), .cut],
                secure
            )
            let response = try await HTTPClient.trusting().fetch(server.request("https://a.test/"))
            #expect(response.text == "ok")
        }
    }

    @Test("A reset in the middle of a body is an error of the body")
    func resetInBody() async throws {
        let mayReset = Gate()
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123"
        for security in [secure, .plain] {
            let server = try FixtureServer.scripted(
                [.awaitHead, .send(head), .wait(mayReset), .reset],
                security
            )
            let isPlain = if case .plain = security { true } else { false }
            let request = server.request(isPlain ? "http://a.test/" : "https://a.test/")
            let response = try await HTTPClient.trusting().send(request)
            mayReset.open()
            let error = try await httpError { try await response.body.collect(upTo: 10) }
            #expect(error.phase == .body, "\(error)")
            #expect(isPlain ? error.systemError?.code == 104 : error.tlsError == .connectionLost(errno: 104))
            // And so it stays.
            let again = try await httpError { try await response.body.collect(upTo: 10) }
            #expect(again.phase == .body)
        }
    }

    @Test("A request that could be read as more than one message is refused before any byte is sent")
    func injection() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        let client = HTTPClient.untimed()
        var requests: [Request] = []
        for (name, value) in [
            ("X-A", "b\r\nX-Evil: 1"), ("X-A", "b\nX-Evil: 1"), ("X-A", "b\u{0}"), ("X-A\r\nX-Evil", "1"),
            ("X A", "1"), ("", "1"), ("X-A:", "1"), ("Content-Length", "5"), ("transfer-encoding", "chunked"),
            ("Host", "evil.test"), ("Connection", "close"),
        ] {
            var request = Request(.get, server.http())
            request.headers.add(name, value)
            requests.append(request)
        }
        requests.append(Request("GET / HTTP/1.1\r\nX-Evil:", server.http()))
        requests.append(Request("", server.http()))
        for request in requests {
            let error = try await httpError { try await client.fetch(request) }
            #expect(error.phase == .request, "\(error)")
            #expect(error.protocolError != nil)
            #expect(!error.description.contains("Evil: 1"))
        }
        #expect(server.records.allSatisfy { $0.receivedCount == 0 })
        #expect(try await client.get(server.http()).text == "hello")
    }

    @Test("A request that is refused before it is sent leaves its connection usable")
    func refusedRequestKeepsConnection() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        let client = HTTPClient.untimed()
        _ = try await client.get(server.http())
        _ = try await httpError { try await client.get(server.http(), headers: ["X-A": "\n"]) }
        #expect(try await client.get(server.http()).isReused)
    }

    @Test(
        "A faulty URL is an error that names the fault, and no address is dialled",
        arguments: [
            ("", .notHTTP), ("a.test/", .notHTTP), ("ftp://a.test/", .unsupportedScheme("ftp")),
            ("http:/a.test", .missingAuthority), ("http:///x", .host(.missing)),
            ("http://a.test:99999/", .invalidPort), ("http://a..test/", .host(.emptyLabel)),
            ("http://127.1/", .host(.looksNumeric)), ("http://[::1/", .host(.unclosedBracket)),
            ("http://a.test/\r\nX-Evil: 1", .tabOrLineBreak), ("http://b\u{fc}cher.test/", .host(.notASCII)),
        ] as [(String, HTTPURLError)]
    )
    func urls(text: String, fault: HTTPURLError) async throws {
        let error = try await httpError { try await HTTPClient.untimed().get(text) }
        #expect(error.phase == .request)
        guard case .url(fault) = error.reason else {
            Issue.record("\(error)")
            return
        }
    }

    @Test("Unusable settings are an error of TLS")
    func badSettings() async throws {
        let server = try FixtureServer.secure("a.test")
        for roots in [
            TrustRoots.only([]), .only([.pemFile("/nowhere/roots.pem")]), .only([.der([1, 2, 3])]),
        ] {
            let client = HTTPClient.untimed { $0.tls.roots = roots }
            let error = try await httpError { try await client.fetch(server.request("https://a.test/")) }
            guard case .badSettings? = error.tlsError else {
                Issue.record("\(error)")
                continue
            }
            #expect(error.phase == .tls)
        }
    }
}
