import DirectHTTP
import DirectHTTPFoundation
import DirectTestCommands
import DirectTestTime
import Foundation
import TLSFixtures
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The ways of calling for which the library makes a task itself.
private enum MadeTask: CaseIterable, CustomTestStringConvertible {
    case fetch, data, progress, session

    /// Begins a call, without a deadline.
    func begin(_ client: HTTPClient, _ url: URL) -> Task<Void, Never> {
        Task {
            switch self {
            case .fetch:
                await withCheckedContinuation { done in
                    client.fetch(HTTPClient.Request(.get, url.absoluteString)) { _ in done.resume() }
                }
            case .data:
                await withCheckedContinuation { done in
                    client.data(from: url) { _, _, _ in done.resume() }
                }
            case .progress:
                _ = try? await client.data(from: url, progress: Progress(totalUnitCount: -1))
            case .session:
                let configuration = URLSessionConfiguration.ephemeral
                configuration.protocolClasses = [client.urlProtocolClass()]
                let session = URLSession(configuration: configuration)
                await withCheckedContinuation { done in
                    session.dataTask(with: url) { _, _, _ in done.resume() }.resume()
                }
                session.finishTasksAndInvalidate()
            }
        }
    }

    var testDescription: String { "\(self)" }
}

/// Blocks its thread until it is opened.
private final class Bolt: Sendable {
    private let opened = DispatchSemaphore(value: 0)
    let reached: AsyncStream<Void>
    private let note: AsyncStream<Void>.Continuation

    init() {
        (reached, note) = AsyncStream.makeStream()
    }

    func block() {
        note.yield()
        opened.wait()
    }

    func open() { opened.signal() }
}

@Suite("Code that blocks", .idleLimit)
struct BlockingCodeTests {
    @Test("An interceptor that blocks delays no request of another client", arguments: MadeTask.allCases)
    fileprivate func interceptor(_ way: MadeTask) async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        let bolt = Bolt()
        let client = HTTPClient.untimed {
            $0.interceptors = [
                { request, forward in
                    bolt.block()
                    return try await forward(request)
                }
            ]
        }
        defer { bolt.open() }
        let blocked = way.begin(client, try server.url("/blocked"))
        for await _ in bolt.reached { break }
        #expect(try await HTTPClient.untimed().get("http://\(server.authority)/other").text == "hello")
        bolt.open()
        await blocked.value
        #expect(server.requests.map(\.target) == ["/other", "/blocked"])
    }
}
