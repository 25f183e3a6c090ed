import DirectHTTP
import DirectHTTPFoundation
import DirectTestTime
import Foundation
import TLSFixtures
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension HTTPClient {
    /// A client for which no time passes: no limit ends anything, however busy the machine is.
    static func untimed() -> HTTPClient { untimed { _ in } }

    static func untimed(_ configure: (inout Configuration) throws -> Void) rethrows -> HTTPClient {
        var settings = Configuration()
        settings.loop = .still
        try configure(&settings)
        return HTTPClient(settings)
    }
}

extension FixtureServer {
    func url(_ path: String = "/") throws -> URL {
        try #require(URL(string: "http://\(authority)\(path)"))
    }

    func request(_ method: String, _ path: String = "/") throws -> URLRequest {
        var request = URLRequest(url: try url(path))
        request.httpMethod = method
        return request
    }
}

/// The error that the call throws, if it is Foundation's.
func urlError(_ call: () async throws -> Void) async -> URLError? {
    do {
        try await call()
        return nil
    } catch {
        return error as? URLError
    }
}

/// A stream of Foundation's made of pieces, which may fail in its middle.
final class ScriptedStream: InputStream {
    private var pieces: [Data]
    private let failure: (any Error)?
    private var status = Stream.Status.notOpen

    init(_ pieces: [Data], failure: (any Error)? = nil) {
        self.pieces = pieces
        self.failure = failure
        super.init(data: Data())
    }

    override var streamStatus: Stream.Status { status }
    override var streamError: (any Error)? { status == .error ? failure : nil }
    override var hasBytesAvailable: Bool { true }
    override func open() { status = .open }
    override func close() { status = .closed }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        guard let piece = pieces.first else {
            status = failure == nil ? .atEnd : .error
            return failure == nil ? 0 : -1
        }
        let count = min(length, piece.count)
        piece.copyBytes(to: buffer, count: count)
        pieces[0] = piece.dropFirst(count)
        if pieces[0].isEmpty { pieces.removeFirst() }
        return count
    }
}

/// A stream that never says that it was read or closed, and gives the same text at each reading.
final class ForgetfulStream: InputStream {
    private let text: [UInt8]
    private var hasGiven = false

    init(_ text: String) {
        self.text = Array(text.utf8)
        super.init(data: Data())
    }

    override var streamStatus: Stream.Status { .open }
    override func open() {}
    override func close() {}

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength _: Int) -> Int {
        defer { hasGiven.toggle() }
        guard !hasGiven else { return 0 }
        buffer.update(from: text, count: text.count)
        return text.count
    }
}

struct Breakdown: Error {}

/// The events of a session's delegate, in order.
final class RecordingDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    enum Event: Equatable {
        case response(Int)
        case data(Data)
        case redirect(to: String)
        case end(URLError.Code?)
    }

    let events: AsyncStream<Event>
    private let record: AsyncStream<Event>.Continuation
    private let followsRedirects: Bool?
    private let body: @Sendable () -> InputStream?

    /// - Parameter followsRedirects: `nil` never answers.
    init(followsRedirects: Bool? = true, body: @escaping @Sendable () -> InputStream? = { nil }) {
        (events, record) = AsyncStream.makeStream()
        self.followsRedirects = followsRedirects
        self.body = body
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        record.yield(.response((response as? HTTPURLResponse)?.statusCode ?? 0))
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        record.yield(.data(data))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        record.yield(.end(error.map { ($0 as? URLError)?.code ?? .unknown }))
        record.finish()
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        record.yield(.redirect(to: request.url?.path ?? ""))
        guard let followsRedirects else { return }
        completionHandler(followsRedirects ? request : nil)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(body())
    }
}

/// Decides about redirects, and passes on what a task delivers.
final class RedirectingDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let pieces: AsyncThrowingStream<Data, any Error>
    private let record: AsyncThrowingStream<Data, any Error>.Continuation
    private let next: @Sendable (URLSessionTask, URLRequest) -> URLRequest?

    init(_ next: @escaping @Sendable (URLSessionTask, URLRequest) -> URLRequest?) {
        self.next = next
        (pieces, record) = AsyncThrowingStream.makeStream()
    }

    /// The body of the response as text.
    func text() async throws -> String {
        var text = ""
        for try await data in pieces { text += String(decoding: data, as: UTF8.self) }
        return text
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(next(task, request))
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        record.yield(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        record.finish(throwing: error)
    }
}
