import DirectCore
import DirectHTTP
import DirectHTTPFoundation
import DirectIO
import Foundation
import TLSFixtures
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Redirects changed by a session's delegate")
struct RebuiltRedirectTests {
    @Test("A redirect that the delegate has changed sends no secret of the client to another origin")
    func clientFields() async throws {
        let b = try FixtureServer.start { _ in .text("b") }
        let a = try FixtureServer.start { _ in .redirect(to: "http://\(b.authority)/") }
        let client = HTTPClient { $0.headers = ["X-Api-Key": "secret", "Authorization": "Bearer secret"] }
        #expect(try await Self.body(of: a.url(), by: client) == "b")
        let seen = try #require(b.requests.first)
        #expect(seen.headers["x-api-key"] == nil && seen.headers["authorization"] == nil)
        #expect(seen.headers["x-trace"] == "1")
        #expect(a.requests.first?.headers["x-api-key"] == "secret")
    }

    /// The response to a session whose delegate adds a field to each redirect.
    private static func body(of url: URL, by client: HTTPClient) async throws -> String {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [client.urlProtocolClass()]
        let delegate = AddingDelegate()
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        session.dataTask(with: url).resume()
        var data = Data()
        for await piece in delegate.pieces { data += piece }
        session.finishTasksAndInvalidate()
        return String(decoding: data, as: UTF8.self)
    }
}

private final class AddingDelegate: NSObject, URLSessionDataDelegate, Sendable {
    let pieces: AsyncStream<Data>
    private let record: AsyncStream<Data>.Continuation

    override init() {
        (pieces, record) = AsyncStream.makeStream()
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        record.yield(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        record.finish()
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        var request = request
        request.setValue("1", forHTTPHeaderField: "X-Trace")
        // On Linux requests are equal that differ in fields only.
        request.url = request.url.flatMap { URL(string: $0.absoluteString + "?traced") }
        completionHandler(request)
    }
}
