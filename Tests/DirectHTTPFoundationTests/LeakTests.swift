#if os(Linux)
import DirectHTTP
import DirectHTTPFoundation
import Foundation
import TLSFixtures
import Testing

import FoundationNetworking

/// The short form of scripts/soak-urlsession.
@Suite("Leaks", .timeLimit(.minutes(1)))
struct LeakTests {
    @Test(arguments: [Way.urlProtocol, .bridge])
    func everyRequestGivesBackItsObjects(_ way: Way) async throws {
        let server = try FixtureServer.start { try .echo($0) }
        let (gone, end) = AsyncStream<Void>.makeStream()
        try await send(Witness(end), sender: Sender(way), server)
        // A session lets go of its task on a queue of its own, some time later.
        for await _ in gone { break }
    }

    @Test(arguments: [Way.urlProtocol, .bridge])
    func aFailedRequestGivesBackItsObjects(_ way: Way) async throws {
        let server = try FixtureServer.start { request in
            _ = try request.discardBody()
            return .raw("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx", then: .closeUnannounced)
        }
        let (gone, end) = AsyncStream<Void>.makeStream()
        let error = await urlError { try await send(Witness(end), sender: Sender(way), server) }
        #expect(error?.code == .networkConnectionLost)
        for await _ in gone { break }
    }

    private func send(_ body: InputStream, sender: Sender, _ server: FixtureServer) async throws {
        var request = try server.request("POST")
        request.httpBodyStream = body
        #expect(try await sender.text(request) == "body")
    }
}

/// A body that tells when it goes.
private final class Witness: InputStream {
    private let end: AsyncStream<Void>.Continuation

    init(_ end: AsyncStream<Void>.Continuation) {
        self.end = end
        super.init(data: Data("body".utf8))
    }

    deinit {
        end.yield()
    }
}
#endif
