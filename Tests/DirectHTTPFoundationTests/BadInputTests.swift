import DirectHTTP
import DirectHTTPFoundation
import Foundation
import TLSFixtures
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Bad input")
struct BadInputTests {
    @Test(
        "A URL that the client cannot use is a URLError with the client's fault underneath",
        arguments: [
            ("http:///path", URLError.Code.badURL),
            ("http://", .badURL),
            ("/relative", .unsupportedURL),
            ("file:///etc/hostname", .unsupportedURL),
            ("ftp://example.com/", .unsupportedURL),
            ("http://127.1/", .badURL),
        ]
    )
    func aURLThatIsNotOurs(_ text: String, _ code: URLError.Code) async throws {
        let url = try #require(URL(string: text))
        let error = await urlError { _ = try await HTTPClient.untimed().data(from: url) }
        #expect(error?.code == code)
        guard case .url = error?.httpError?.reason else {
            Issue.record("\(error as Any) has no fault of a URL underneath")
            return
        }
        #expect(error?.httpError?.phase == .request)
    }

    @Test("An error about a URL does not show its password")
    func theErrorsURLHasNoPassword() async throws {
        let url = try #require(URL(string: "http://user:secret@127.1/"))
        let error = try #require(await urlError { _ = try await HTTPClient.untimed().data(from: url) })
        #expect(!"\(error) \(error.userInfo)".contains("secret"))
    }

    @Test(
        "A request with an invalid field is refused before anything is sent",
        arguments: [Way.bridge, .urlProtocol],
        [("X Y", "z"), ("", "z"), ("X-Y", "a\u{1}b"), ("X-Y", "a\u{7F}b")]
    )
    func aFieldThatBreaksTheGrammarIsNotSent(_ way: Way, _ field: (name: String, value: String)) async throws
    {
        let server = try FixtureServer.start { _ in .text("never") }
        var request = try server.request("GET")
        request.setValue(field.value, forHTTPHeaderField: field.name)
        try #require(request.allHTTPHeaderFields?[field.name] == field.value)
        let error = await urlError { _ = try await Sender(way).data(for: request) }
        #expect(error?.code == .badURL)
        #expect(error?.httpError?.phase == .request)
        #expect(server.requests.isEmpty)
    }

    @Test(
        "A request with an invalid method is refused before anything is sent",
        arguments: [Way.bridge, .urlProtocol]
    )
    func aMethodThatBreaksTheGrammarIsNotSent(_ way: Way) async throws {
        let server = try FixtureServer.start { _ in .text("never") }
        let request = try server.request("GET / HTTP/1.1\r\nX: y")
        let error = await urlError { _ = try await Sender(way).data(for: request) }
        #expect(error?.code == .badURL)
        #expect(server.requests.isEmpty)
    }

    @Test(
        "A Host field other than the URL's host is refused before anything is sent",
        arguments: [Way.bridge, .urlProtocol]
    )
    func anotherHostThanTheURLsIsRefused(_ way: Way) async throws {
        let server = try FixtureServer.start { _ in .text("never") }
        var request = try server.request("GET")
        request.setValue("example.com", forHTTPHeaderField: "Host")
        let error = await urlError { _ = try await Sender(way).data(for: request) }
        #expect(error?.httpError?.phase == .request)
        #expect(server.requests.isEmpty)
    }

    @Test(
        "A body stream that fails midway fails the request, which never arrives complete",
        arguments: [Way.bridge, .urlProtocol],
        [nil, "12"]
    )
    func aStreamThatFailsMidwayFailsTheRequest(_ way: Way, _ announced: String?) async throws {
        let server = try FixtureServer.start { try .echo($0) }
        var request = try server.request("POST")
        request.httpBodyStream = ScriptedStream([Data("half".utf8)], failure: Breakdown())
        request.setValue(announced, forHTTPHeaderField: "Content-Length")
        let error = await urlError { _ = try await Sender(way).data(for: request) }
        #expect(error?.code == .requestBodyStreamExhausted)
        guard case .bodySource = error?.httpError?.reason else {
            Issue.record("\(error as Any) does not blame the body")
            return
        }
        #expect(server.requests.allSatisfy { !$0.isComplete })
    }

    @Test(
        "A body stream that has been read or closed before fails the request, and nothing is sent",
        arguments: [Way.bridge, .urlProtocol],
        [
            "sent before", "file sent before", "closed", "of the app's own, sent before",
            "open still, sent before",
        ]
    )
    func aStreamThatIsUsedUpFailsTheRequest(_ way: Way, _ kind: String) async throws {
        let server = try FixtureServer.start { try .echo($0) }
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("content".utf8).write(to: file)
        var request = try server.request("PUT")
        let stream: InputStream =
            switch kind {
            case "file sent before": try #require(InputStream(fileAtPath: file.path))
            case "of the app's own, sent before": ScriptedStream([Data("content".utf8)])
            case "open still, sent before": ForgetfulStream("content")
            default: InputStream(data: Data("content".utf8))
            }
        request.httpBodyStream = stream
        if kind == "closed" {
            stream.open()
            stream.close()
        } else {
            #expect(try await Sender(way).data(for: request).0 == Data("content".utf8))
        }
        let count = server.requests.count
        let error = await urlError { _ = try await Sender(way).data(for: request) }
        #expect(error?.code == .requestBodyStreamExhausted)
        #expect(server.requests.count { $0.isComplete } == count)
    }

    @Test(
        "A redirect that is followed with the body that was sent fails like one with a used-up stream"
    )
    func bodySentBefore() async throws {
        let server = try FixtureServer.start { request in
            _ = try request.body
            return request.path == "/" ? .redirect(to: "/next", status: 303) : .text("there")
        }
        let client = HTTPClient.untimed {
            $0.redirects.decide = { redirect in
                Request(.post, try redirect.next.url, body: redirect.request.body)
            }
        }
        var request = try server.request("POST")
        request.httpBodyStream = InputStream(data: Data("content".utf8))
        let error = await urlError { [request] in _ = try await client.data(for: request) }
        #expect(error?.code == .requestBodyStreamExhausted)
        #expect(server.requests.count { $0.isComplete } == 1)
    }

    @Test(
        "A body stream of the app's own that fails without an error fails the request",
        arguments: [Way.bridge, .urlProtocol]
    )
    func aStreamThatFailsWithoutAnErrorFailsTheRequest(_ way: Way) async throws {
        final class Failing: InputStream {
            init() { super.init(data: Data()) }
            override var streamStatus: Stream.Status { .open }
            override func open() {}
            override func read(_: UnsafeMutablePointer<UInt8>, maxLength _: Int) -> Int { -1 }
        }
        let server = try FixtureServer.start { try .echo($0) }
        var request = try server.request("PUT")
        request.httpBodyStream = Failing()
        let error = await urlError { _ = try await Sender(way).data(for: request) }
        #expect(error?.code == .requestBodyStreamExhausted)
    }

    @Test(
        "A body stream is opened once, also if it does not say that it is open",
        arguments: [Way.bridge, .urlProtocol]
    )
    func aStreamIsOpenedOnce(_ way: Way) async throws {
        final class Rewinding: InputStream {
            private var position = 0
            private(set) var opens = 0
            init() { super.init(data: Data()) }
            override func close() {}
            override func open() {
                position = 0
                opens += 1
            }
            override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength _: Int) -> Int {
                guard position < 3 else { return 0 }
                // It would have no end.
                guard opens < 9 else { return -1 }
                position += 1
                buffer.pointee = UInt8(ascii: "a")
                return 1
            }
        }
        let server = try FixtureServer.start { try .echo($0) }
        var request = try server.request("PUT")
        let stream = Rewinding()
        request.httpBodyStream = stream
        #expect(try await Sender(way).text(request) == "aaa")
        #expect(stream.opens == 1)
    }

    @Test("An upload fails with the body stream that its delegate provides")
    func anUploadWhoseStreamTheDelegateGivesFailsWithIt() async throws {
        let server = try FixtureServer.start { try .echo($0) }
        let delegate = RecordingDelegate {
            ScriptedStream([Data("half".utf8)], failure: Breakdown())
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [HTTPClient.untimed().urlProtocolClass()]
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        session.uploadTask(withStreamedRequest: try server.request("POST")).resume()
        var events: [RecordingDelegate.Event] = []
        for await event in delegate.events { events.append(event) }
        #expect(events == [.end(.requestBodyStreamExhausted)])
        #expect(server.requests.allSatisfy { !$0.isComplete })
    }

    @Test("The bytes of a truncated response are delivered, and then an error of the body")
    func bytesThatBreakOffEndWithAnError() async throws {
        let server = try FixtureServer.start { _ in
            .bytes([1, 2, 3], status: 200, ["Content-Length": "10"]).then(.closeUnannounced)
        }
        let (bytes, _) = try await HTTPClient.untimed().bytes(from: server.url())
        var count = 0
        let error = await urlError { for try await _ in bytes { count += 1 } }
        #expect(error?.code == .networkConnectionLost && error?.httpError?.phase == .body)
        #expect(count == 3)
    }

    @Test("A URL without a valid host is a bad URL in a session, too")
    func aURLWithoutAHostFailsInASessionToo() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [HTTPClient.untimed().urlProtocolClass()]
        let session = URLSession(configuration: configuration)
        for text in ["http:///path", "http://", "http://127.1/"] {
            let url = try #require(URL(string: text))
            let error = await urlError { _ = try await session.data(from: url) }
            #expect(error?.code == .badURL && error?.httpError?.phase == .request, "\(text)")
        }
    }

    @Test(
        "A body stream that is shorter or longer than its Content-Length fails the request",
        arguments: ["9", "3"]
    )
    func aStreamOfAnotherLengthFailsTheRequest(_ announced: String) async throws {
        let server = try FixtureServer.start { try .echo($0) }
        var request = try server.request("POST")
        request.httpBodyStream = ScriptedStream([Data("half".utf8)])
        request.setValue(announced, forHTTPHeaderField: "Content-Length")
        let error = await urlError { _ = try await HTTPClient.untimed().data(for: request) }
        #expect(error?.code == .requestBodyStreamExhausted)
    }

    @Test("An upload of a file that does not exist fails before anything is sent")
    func aFileThatIsNotThereFailsTheUpload() async throws {
        let server = try FixtureServer.start { try .echo($0) }
        let file = URL(fileURLWithPath: "/nowhere/at/all")
        let error = await urlError {
            _ = try await HTTPClient.untimed().upload(for: server.request("POST"), fromFile: file)
        }
        #expect(error?.code == .fileDoesNotExist)
        #expect(server.requests.isEmpty)
    }

    @Test("A download into a folder that does not exist cannot create its file")
    func aFolderThatIsNotThereFailsTheDownload() async throws {
        let server = try FixtureServer.start { _ in .text("x") }
        let error = await urlError {
            _ = try await HTTPClient.untimed().download(
                from: server.url(),
                in: URL(fileURLWithPath: "/nowhere")
            )
        }
        #expect(error?.code == .cannotCreateFile)
    }

    @Test("A refused connection is an error of the connect phase with the failing URL")
    func aRefusedConnectionNamesEveryAttempt() async throws {
        let refusing = try FixtureServer.refusing()
        let url = try #require(URL(string: "http://\(refusing.authority)/"))
        let error = await urlError { _ = try await HTTPClient.untimed().data(from: url) }
        #expect(error?.code == .cannotConnectToHost)
        #expect(error?.httpError?.phase == .connect)
        #expect(error?.failingURL == url)
    }

    @Test("A certificate for another name is an untrusted certificate")
    func aCertificateForAnotherNameIsUntrusted() async throws {
        let authority = TestAuthority()
        let certificate = authority.certificate(for: "other.example")
        let server = try FixtureServer.start(.tls(certificates: [certificate])) { _ in .text("never") }
        var addresses = StaticMap()
        try addresses.set([Endpoint(stringLiteral: server.authority)], for: HostPattern("www.example"))
        let client = HTTPClient.untimed { [addresses] in
            $0.tls.roots = .only([.der(authority.rootDER)])
            $0.addresses = addresses
        }
        let url = try #require(URL(string: "https://www.example/"))
        let error = await urlError { _ = try await client.data(from: url) }
        #expect(error?.code == .serverCertificateUntrusted)
        #expect(error?.httpError?.phase == .tls)
    }

    /// The error for a server whose certificate the authority has issued so.
    private func refusal(
        trusts: TestAuthority? = nil,
        _ change: (inout CertificateProfile) -> Void = { _ in }
    ) async throws -> URLError? {
        let authority = TestAuthority()
        var profile = CertificateProfile(for: "127.0.0.1")
        change(&profile)
        let certificate = try authority.issue(profile)
        let server = try FixtureServer.start(.tls(certificates: [certificate])) { _ in .text("never") }
        let client = HTTPClient.untimed { $0.tls.roots = .only([.der((trusts ?? authority).rootDER)]) }
        let url = try #require(URL(string: "https://\(server.authority)/"))
        let error = await urlError { _ = try await client.data(from: url) }
        #expect(error?.failingURL == url && error?.httpError?.errorDescription == error?.localizedDescription)
        return error
    }

    @Test("The error for a certificate says whether its time or its root is the reason")
    func certificates() async throws {
        #expect(try await refusal { $0.validity = .expired }?.code == .serverCertificateHasBadDate)
        #expect(try await refusal { $0.validity = .notYet }?.code == .serverCertificateNotYetValid)
        #expect(try await refusal(trusts: TestAuthority())?.code == .serverCertificateHasUnknownRoot)
        #expect(try await refusal { $0.isSelfSigned = true }?.code == .serverCertificateHasUnknownRoot)
    }

    @Test("A head that is larger than the limits is an error for too much data, and a malformed one is none")
    func heads() async throws {
        let long = String(repeating: "x", count: 500)
        for (head, code) in [
            ("HTTP/1.1 200 OK\r\nX: \(long)\r\n\r\n", URLError.Code.dataLengthExceedsMaximum),
            ("HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\nC: 3\r\n\r\n", .dataLengthExceedsMaximum),
            ("HTTP/1.1 200 OK\r\nA 1\r\n\r\n", .cannotParseResponse),
        ] {
            let server = try FixtureServer.start(behaviour: .bytes([.awaitHead, .send(head), .awaitClose]))
            let client = HTTPClient.untimed {
                $0.limits.headBytes = 200
                $0.limits.fieldCount = 2
            }
            let error = await urlError { _ = try await client.data(from: server.url()) }
            #expect(error?.code == code)
        }
    }
}
