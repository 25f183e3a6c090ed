#if os(Linux)
import DirectHTTP
import DirectHTTPFoundation
import DirectTestCommands
import DirectTestTime
import Foundation
import TLSFixtures
import Testing

import FoundationNetworking

@Suite("Leaks", .idleLimit)
struct LeakTests {
    @Test("A request releases its body when it is done", arguments: [Way.urlProtocol, .bridge])
    func everyRequestGivesBackItsObjects(_ way: Way) async throws {
        let server = try FixtureServer.start { try .echo($0) }
        let (gone, end) = AsyncStream<Void>.makeStream()
        try await send(Witness(end), sender: Sender(way), server)
        // A session lets go of its task on a queue of its own, some time later.
        for await _ in gone { break }
    }

    @Test("A failed request releases its body", arguments: [Way.urlProtocol, .bridge])
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

    /// In a process of its own, whose descriptors and memory no other test uses. `scripts/bench
    /// foundation-soak` does the same to another server in a release build.
    @Test(
        "Ten thousand requests leave neither open sockets nor growing memory",
        .ownProcess,
        arguments: [Way.urlProtocol, .bridge]
    )
    func tenThousandRequestsLeaveNothing(_ way: Way) async throws {
        await #expect(processExitsWith: .success) { [way] in
            let time = HeldTime()
            let sender = Sender(way, on: time.loop)
            // Memory that every program needs once, and that the allocator keeps for the next time.
            for _ in 0..<3 { try await sendThousand(sender) }
            let sockets = try openSocketCount()
            // The allocator never lets go of pages, and takes more where more threads happen to run at a time.
            // What leaks grows each time.
            var (growth, tries) = (Int.max, 0)
            while growth >= 6 * 1024, tries < 5 {
                let memory = try residentKiB()
                for _ in 0..<10 { try await sendThousand(sender) }
                (growth, tries) = (try residentKiB() - memory, tries + 1)
            }
            // The pool lets go of connections that servers have closed once in a while.
            for _ in 0..<100_000 where try openSocketCount() > sockets {
                time.advance(by: .seconds(1))
                await time.settle()
            }
            exit(try openSocketCount() <= sockets && growth < 6 * 1024 ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    private func send(_ body: InputStream, sender: Sender, _ server: FixtureServer) async throws {
        var request = try server.request("POST")
        request.httpBodyStream = body
        #expect(try await sender.text(request) == "body")
    }
}

/// Requests of all kinds to a server of their own, whose end ends their connections.
private func sendThousand(_ sender: Sender) async throws {
    let server = try FixtureServer.start { request in
        switch request.path {
        case "/broken": .raw("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx", then: .closeUnannounced)
        case "/moved": .redirect(to: "/echo", status: 307)
        default: try .echo(request)
        }
    }
    let refusing = try FixtureServer.refusing()
    try await withThrowingTaskGroup { group in
        for lane in 0..<40 {
            group.addTask {
                for number in 0..<25 {
                    try await sendOne(sender, server, refusing, kind: (lane + number) % 10)
                }
            }
        }
        try await group.waitForAll()
    }
    server.stop()
}

private func sendOne(
    _ sender: Sender,
    _ server: FixtureServer,
    _ refusing: FixtureServer,
    kind: Int
) async throws {
    let paths = [6: "/broken", 7: "/moved"]
    var request = try (kind == 8 ? refusing : server).request("POST", paths[kind] ?? "/echo")
    let body = Data(repeating: 7, count: 2000)
    if kind < 5 || kind == 7 { request.httpBody = body }
    if kind == 5 { request.httpBodyStream = InputStream(data: body) }
    let sent = request
    let work = Task { try await sender.data(for: sent).0 }
    if kind == 9 { work.cancel() }
    switch (kind, await work.result) {
    case (6, .failure), (8, .failure), (9, _): break
    case (let kind, .success(let data)) where kind < 6 || kind == 7: try #require(data == body)
    case (let kind, let result): Issue.record("\(kind): \(result)")
    }
}

private func residentKiB() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
    return try #require(Int(line.filter(\.isNumber)))
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
