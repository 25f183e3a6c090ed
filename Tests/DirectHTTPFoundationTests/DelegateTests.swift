import DirectCore
import DirectHTTP
import DirectHTTPFoundation
import DirectTestCommands
import Foundation
import TLSFixtures
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("DirectURLProtocol with a delegate", .idleLimit)
struct DelegateTests {
    @Test("The delegate receives each piece of a body when it arrives")
    func eachPieceComesWhenItArrives() async throws {
        let gate = Gate()
        let server = try FixtureServer.start { _ in
            .written { writer in
                try writer.write("first")
                try writer.wait(for: gate)
                try writer.write("second")
            }
        }
        let delegate = RecordingDelegate()
        let session = session(delegate)
        session.dataTask(with: try server.url()).resume()
        var events = delegate.events.makeAsyncIterator()
        #expect(await events.next() == .response(200))
        #expect(await events.next() == .data(Data("first".utf8)))
        gate.open()
        #expect(await events.next() == .data(Data("second".utf8)))
        #expect(await events.next() == .end(nil))
    }

    @Test("A suspended and resumed task sends its request once and delivers the response")
    func aSuspendedTaskTakesNothingUntilItIsResumed() async throws {
        let gate = Gate()
        let server = try FixtureServer.start { request in
            try request.wait(for: gate)
            return .text("late")
        }
        let delegate = RecordingDelegate()
        let task = session(delegate).dataTask(with: try server.url())
        task.resume()
        _ = try await server.waitUntil { !$0.isEmpty }
        task.suspend()
        gate.open()
        // It is not sent a second time.
        task.resume()
        var events: [RecordingDelegate.Event] = []
        for await event in delegate.events { events.append(event) }
        #expect(events == [.response(200), .data(Data("late".utf8)), .end(nil)])
        #expect(server.requests.count == 1)
    }

    @Test("The delegate decides whether a redirect is followed", arguments: [true, false])
    func theDelegateDecidesOnRedirects(_ follows: Bool) async throws {
        let server = try FixtureServer.start { request in
            request.path == "/" ? .redirect(to: "/next") : .text("there")
        }
        let delegate = RecordingDelegate(followsRedirects: follows)
        session(delegate).dataTask(with: try server.url()).resume()
        var events: [RecordingDelegate.Event] = []
        for await event in delegate.events { events.append(event) }
        #expect(events.first == .redirect(to: "/next"))
        #expect(events.dropFirst().first == .response(follows ? 200 : 302))
        #expect(server.requests.map(\.target) == (follows ? ["/", "/next"] : ["/"]))
    }

    @Test("A task that is cancelled while its delegate is asked about a redirect gives its connection back")
    func cancelledQuestion() async throws {
        let server = try FixtureServer.start { request in
            request.path == "/" ? .redirect(to: "/next") : .text("there")
        }
        let client = HTTPClient.untimed { $0.maximumConnectionsPerOrigin = 1 }
        let delegate = RecordingDelegate(followsRedirects: nil)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [client.urlProtocolClass()]
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        let task = session.dataTask(with: try server.url())
        task.resume()
        for await event in delegate.events where event == .redirect(to: "/next") { task.cancel() }
        #expect(try await client.get("http://\(server.authority)/other").text == "there")
    }

    @Test("The delegate provides the body of an upload")
    func theDelegateGivesTheBodyOfAnUpload() async throws {
        let server = try FixtureServer.start { try .echo($0) }
        let delegate = RecordingDelegate { InputStream(data: Data("from the delegate".utf8)) }
        session(delegate).uploadTask(withStreamedRequest: try server.request("POST")).resume()
        var received = Data()
        for await case .data(let data) in delegate.events { received += data }
        #expect(received == Data("from the delegate".utf8))
    }

    @Test("The delegate is asked for the body of an upload each time that it is sent")
    func theDelegateGivesTheBodyAgain() async throws {
        let server = try FixtureServer.start { request in
            let body = try request.text
            return request.path == "/" ? .redirect(to: "/next", status: 307) : .text(body)
        }
        let asked = Locked(0)
        let delegate = RecordingDelegate {
            let number = asked.withLock { asked in
                asked += 1
                return asked
            }
            return InputStream(data: Data("body \(number)".utf8))
        }
        session(delegate).uploadTask(withStreamedRequest: try server.request("PUT")).resume()
        var received = Data()
        for await event in delegate.events {
            if case .data(let data) = event { received += data }
        }
        #expect(received == Data("body 2".utf8) && asked.withLock { $0 } == 2)
        #expect(server.requests.map(\.bodyText) == ["body 1", "body 2"])
    }

    @Test(
        "An upload whose delegate has no second body, or the first one again, fails when it has to be sent again",
        arguments: [true, false]
    )
    func theDelegateHasNoSecondBody(givesTheFirstAgain: Bool) async throws {
        let server = try FixtureServer.start { request in
            _ = try request.body
            return .redirect(to: "/next", status: 307)
        }
        nonisolated(unsafe) let body = ForgetfulStream("body")
        let isAsked = Locked(false)
        let delegate = RecordingDelegate {
            let isFirst = isAsked.withLock { isAsked in
                defer { isAsked = true }
                return !isAsked
            }
            return isFirst || givesTheFirstAgain ? body : nil
        }
        session(delegate).uploadTask(withStreamedRequest: try server.request("PUT")).resume()
        var end: RecordingDelegate.Event?
        for await event in delegate.events { end = event }
        #expect(end == .end(.requestBodyStreamExhausted))
    }

    @Test(
        "The answer to an upload is delivered if it has to be sent again and its delegate has no other body",
        arguments: [503, 401],
        [true, false]
    )
    func theAnswerToTheOnlyBody(_ status: Int, givesTheFirstAgain: Bool) async throws {
        let server = try FixtureServer.start { request in
            _ = try request.body
            return .text(
                "why",
                status: status,
                status == 401 ? ["WWW-Authenticate": "Basic realm=\"here\""] : [:]
            )
        }
        let configuration = URLSessionConfiguration.ephemeral
        let client = HTTPClient {
            $0.retries = RetryPolicy()
            $0.retries?.delay = .zero
        }
        configuration.protocolClasses = [client.urlProtocolClass()]
        let space = URLProtectionSpace(
            host: server.address,
            port: Int(server.port),
            protocol: "http",
            realm: "here",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic
        )
        let credential = URLCredential(user: "user", password: "pass", persistence: .forSession)
        configuration.urlCredentialStorage?.setDefaultCredential(credential, for: space)
        nonisolated(unsafe) let body = ForgetfulStream("body")
        let isAsked = Locked(false)
        let delegate = RecordingDelegate {
            let isFirst = isAsked.withLock { isAsked in
                defer { isAsked = true }
                return !isAsked
            }
            return isFirst || givesTheFirstAgain ? body : nil
        }
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        session.uploadTask(withStreamedRequest: try server.request("PUT")).resume()
        var events: [RecordingDelegate.Event] = []
        for await event in delegate.events { events.append(event) }
        #expect(events == [.response(status), .data(Data("why".utf8)), .end(nil)])
        #expect(server.requests.count == 1)
    }

    @Test("An upload whose delegate has no body fails, and one whose delegate never answers times out")
    func theDelegateHasNoBody() async throws {
        let server = try FixtureServer.start { try .echo($0) }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [HTTPClient().urlProtocolClass()]
        configuration.timeoutIntervalForResource = 0.2
        let silent = SilentDelegate()
        let session = URLSession(configuration: configuration, delegate: silent, delegateQueue: nil)
        session.uploadTask(withStreamedRequest: try server.request("PUT")).resume()
        for await code in silent.ends { #expect(code == .timedOut) }
        let delegate = RecordingDelegate { nil }
        self.session(delegate).uploadTask(withStreamedRequest: try server.request("PUT")).resume()
        var end: RecordingDelegate.Event?
        for await event in delegate.events { end = event }
        #expect(end == .end(.requestBodyStreamExhausted))
    }

    /// A delegate that never answers the question for a body.
    private final class SilentDelegate: NSObject, URLSessionTaskDelegate, Sendable {
        let ends: AsyncStream<URLError.Code?>
        private let record: AsyncStream<URLError.Code?>.Continuation

        override init() { (ends, record) = AsyncStream.makeStream() }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {}

        func urlSession(_: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            record.yield((error as? URLError)?.code)
            record.finish()
        }
    }

    @Test("A completion handler receives the whole body, also in a session with a delegate")
    func aCompletionHandlerGetsAllEvenWhereThereIsADelegate() async throws {
        let server = try FixtureServer.start { _ in
            .chunked((0..<50).map { [UInt8](repeating: $0, count: 5000) })
        }
        let session = session(RecordingDelegate())
        let url = try server.url()
        let count = await withCheckedContinuation { continuation in
            session.dataTask(with: url) { data, _, _ in continuation.resume(returning: data?.count) }.resume()
        }
        #expect(count == 250_000)
    }

    private func session(_ delegate: RecordingDelegate) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [HTTPClient.untimed().urlProtocolClass()]
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }
}
