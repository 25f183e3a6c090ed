#if canImport(FoundationNetworking)
import DirectCore
import Foundation
import FoundationNetworking

/// Runs a task and notes what its program is told.
final class OracleRecorder: NSObject, URLSessionDataDelegate, Sendable {
    private let cell: OracleCell
    private let noted = Locked(OracleOutcome())
    private let ends: AsyncStream<Void>
    private let end: AsyncStream<Void>.Continuation

    init(_ cell: OracleCell) {
        self.cell = cell
        (ends, end) = AsyncStream.makeStream()
    }

    var outcome: OracleOutcome { noted.withLock { $0 } }

    func run(
        _ session: URLSession,
        _ request: URLRequest,
        _ file: URL,
        beforeStart: () -> Void,
        atServer: @Sendable () async -> Void
    ) async {
        if cell.call == .getAsync { return await runAsync(session, request, beforeStart, atServer) }
        let task = task(session, request, file)
        beforeStart()
        if cell.cancel == .beforeStart { task.cancel() }
        task.resume()
        if cell.cancel == .beforeResponse || cell.cancel == .inBody && !cell.hasDelegate {
            await atServer()
            task.cancel()
        }
        for await _ in ends {}
    }

    private func runAsync(
        _ session: URLSession,
        _ request: URLRequest,
        _ beforeStart: () -> Void,
        _ atServer: @Sendable () async -> Void
    ) async {
        beforeStart()
        let work = Task {
            do {
                let (data, response) = try await session.data(for: request)
                finish(data, response, nil)
            } catch {
                finish(nil, nil, error)
            }
        }
        if cell.cancel == .beforeStart { work.cancel() }
        if cell.cancel == .beforeResponse || cell.cancel == .inBody {
            await atServer()
            work.cancel()
        }
        await work.value
    }

    private func task(_ session: URLSession, _ request: URLRequest, _ file: URL) -> URLSessionTask {
        let body = Data("body".utf8)
        switch cell.call {
        case .get, .head, .getAsync, .postOfHandler:
            return session.dataTask(with: request) { self.finish($0, $1, $2) }
        case .getOfDelegate, .postOfDelegate, .postOfStream: return session.dataTask(with: request)
        case .uploadOfData: return session.uploadTask(with: request, from: body)
        case .uploadOfFile: return session.uploadTask(with: request, fromFile: file)
        case .uploadOfStream, .uploadOfLength: return session.uploadTask(withStreamedRequest: request)
        case .uploadOfHandler:
            return session.uploadTask(with: request, from: body) { self.finish($0, $1, $2) }
        }
    }

    private func finish(_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) {
        if let response { note(response) }
        if let data { noted.withLock { $0.body += String(decoding: data, as: UTF8.self) } }
        note(error)
    }

    private func note(_ response: URLResponse) {
        noted.withLock {
            $0.status = (response as? HTTPURLResponse)?.statusCode
            $0.expectedLength = response.expectedContentLength
        }
    }

    private func note(_ error: (any Error)?) {
        noted.withLock { $0.error = error.map { ($0 as? URLError)?.code.rawValue ?? ($0 as NSError).code } }
        end.finish()
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        noted.withLock { $0.events.append("response") }
        note(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        noted.withLock { noted in
            if noted.events.last != "data" { noted.events.append("data") }
            noted.body += String(decoding: data, as: UTF8.self)
        }
        if cell.cancel == .inBody { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        noted.withLock { $0.events.append("end") }
        note(error)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        let name = request.url?.scheme == "http" ? request.url?.lastPathComponent : request.url?.scheme
        noted.withLock { $0.events.append("redirect \(request.httpMethod ?? "") \(name ?? "")") }
        switch cell.redirect {
        case .refused: completionHandler(nil)
        case .rebuilt:
            var own = request.url.map { URLRequest(url: $0) }
            own?.httpMethod = "POST"
            own?.httpBody = Data("own".utf8)
            own?.setValue("text/own", forHTTPHeaderField: "Content-Type")
            completionHandler(own)
        default: completionHandler(request)
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(InputStream(data: Data("body".utf8)))
    }
}
#endif
