import DirectHTTPFoundation
import Foundation
import FoundationNetworking
import Synchronization
import Work

/// The benchmark's work through URLSession's interface: with the bridge, with a session that has our
/// `URLProtocol` class, or with a session alone.
///
/// `foundation WORK key=value...`; peers/bench.h describes the settings, `way` selects the interface.
@main
enum Program {
    static func main() async {
        do {
            try await FoundationWorks(Settings(CommandLine.arguments)).run()
            exit(0)
        } catch {
            fail("\(error)")
        }
    }
}

/// The works, each with one of the three interfaces.
struct FoundationWorks: Sendable {
    private let settings: Settings
    private let client: HTTPClient
    private let session: URLSession

    init(_ settings: Settings) throws {
        self.settings = settings
        let addresses =
            settings.scheme == "http"
            ? StaticMap() : try StaticMap(curl: ["\(settings.host):\(settings.port):\(settings.address)"])
        let client = HTTPClient {
            $0.tls.roots = .only([.pemFile(settings.roots)])
            $0.addresses = addresses
            $0.maximumConnectionsPerOrigin = settings.inFlight
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = settings.inFlight
        if settings.way == "urlprotocol" { configuration.protocolClasses = [client.urlProtocolClass()] }
        self.client = client
        session = URLSession(configuration: configuration)
    }

    func run() async throws {
        var memoryAtStart = memoryKiB("VmRSS")
        try await stretch(settings.warmUp)
        let descriptors = try openDescriptors()
        // A soak measures growth after the memory that every program needs once.
        if settings.work == "soak" { memoryAtStart = memoryKiB("VmRSS") }
        let start = Reading.now
        try await stretch(settings.count)
        if settings.work == "soak", try openDescriptors() > descriptors + settings.inFlight {
            fail("\(try openDescriptors()) descriptors are open, \(descriptors) were at the start")
        }
        report(units: settings.count, from: start, to: .now, memoryAtStart: memoryAtStart)
    }

    private func stretch(_ count: Int) async throws {
        switch settings.work {
        case "requests": try await requests(count)
        case "soak": try await soak(count)
        case "down": try await download(kib: count)
        case "up": try await upload(kib: count)
        default: fail("unknown work: \(settings.work)")
        }
    }

    private func url(_ path: String) -> URL {
        guard let url = URL(string: settings.url(path)) else { fail("no URL: \(path)") }
        return url
    }

    private func requests(_ count: Int) async throws {
        let request = URLRequest(url: url(settings.path))
        let taken = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<min(settings.inFlight, count) {
                group.addTask {
                    while taken.next() <= count { try await check(request) }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Sends requests that succeed, requests for a missing resource, requests to a missing server, and
    /// requests that are cancelled.
    private func soak(_ count: Int) async throws {
        var missing = URLRequest(url: url("/nothing"))
        missing.httpMethod = "POST"
        missing.httpBody = Data(repeating: 1, count: 1000)
        guard let nobody = URL(string: "http://127.0.0.1:9/") else { fail("no URL") }
        for number in 0..<count {
            switch number % 10 {
            case 7: _ = try await send(missing)
            case 8: _ = try? await send(URLRequest(url: nobody))
            case 9:
                let unwanted = Task { try await send(URLRequest(url: url("/small"))) }
                unwanted.cancel()
                _ = await unwanted.result
            default: try await check(URLRequest(url: url("/small")))
            }
        }
    }

    private func openDescriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }

    private func check(_ request: URLRequest) async throws {
        let (body, head) = try await send(request)
        guard (head as? HTTPURLResponse)?.statusCode == 200 else { fail("another status than 200") }
        guard body.count == settings.length else { fail("a body of \(body.count) bytes") }
    }

    private func send(_ request: URLRequest) async throws -> (Data, URLResponse) {
        if settings.way == "bridge" { return try await client.data(for: request) }
        return try await session.data(for: request)
    }

    /// Downloads to a file with the bridge, and piece by piece to a delegate with a session.
    private func download(kib: Int) async throws {
        let url = url(settings.path + String(kib))
        guard settings.way == "bridge" else {
            let count = try await Receiver.receive(url, session.configuration)
            guard count == kib * 1024 else { fail("\(count) bytes came") }
            return
        }
        let (file, _) = try await client.download(from: url)
        defer { try? FileManager.default.removeItem(at: file) }
        let facts = try FileManager.default.attributesOfItem(atPath: file.path)
        guard facts[.size] as? Int == kib * 1024 else { fail("a file of another size") }
    }

    private func upload(kib: Int) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        guard FileManager.default.createFile(atPath: file.path, contents: nil) else {
            fail("no file to send")
        }
        defer { try? FileManager.default.removeItem(at: file) }
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: UInt64(kib) * 1024)
        try handle.close()
        var request = URLRequest(url: url(settings.path))
        request.httpMethod = "POST"
        let answer: Data
        if settings.way == "bridge" {
            (answer, _) = try await client.upload(for: request, fromFile: file)
        } else {
            (answer, _) = try await session.upload(for: request, fromFile: file)
        }
        guard answer == Data("\(kib * 1024)\n".utf8) else { fail("the server counted another length") }
    }
}

/// A delegate that counts the bytes of a response.
private final class Receiver: NSObject, URLSessionDataDelegate, Sendable {
    private let count = Atomic(0)
    private let end: AsyncThrowingStream<Void, any Error>.Continuation

    private init(_ end: AsyncThrowingStream<Void, any Error>.Continuation) {
        self.end = end
    }

    /// Returns the number of bytes received.
    static func receive(_ url: URL, _ configuration: URLSessionConfiguration) async throws -> Int {
        let (ended, end) = AsyncThrowingStream<Void, any Error>.makeStream()
        let receiver = Receiver(end)
        let session = URLSession(configuration: configuration, delegate: receiver, delegateQueue: nil)
        session.dataTask(with: url).resume()
        for try await _ in ended {}
        session.finishTasksAndInvalidate()
        return receiver.count.load(ordering: .relaxed)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        count.add(data.count, ordering: .relaxed)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        end.finish(throwing: error)
    }
}
