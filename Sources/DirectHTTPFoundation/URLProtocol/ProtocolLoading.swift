internal import DirectCore
internal import DirectHTTP
internal import DirectIO
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// One loading of a URLProtocol: sends its request with a client and reports the response to the session.
final class ProtocolLoading: Sendable {
    private let client: HTTPClient
    private let order: ProtocolOrder
    private let session: ProtocolClient
    private let work = Locked<Task<Void, Never>?>(nil)

    /// Prepares the loading. Called on the task's queue.
    init(_ host: DirectURLProtocol, _ client: HTTPClient) {
        self.client = client
        #if canImport(FoundationNetworking)
        let inside = host.task.map(SessionInside.init)
        order = ProtocolOrder(host.request, host.task, inside, client.configuration)
        session = ProtocolClient(host, inside?.queue)
        #else
        order = ProtocolOrder(host.request, client.configuration)
        session = ProtocolClient(host)
        #endif
    }

    /// Sends the request, on the client's own threads.
    func start() {
        let task = Task(executorPreference: client.threads) { await self.run() }
        work.withLock { $0 = task }
    }

    /// Cancels the request. The session is not called any more.
    func stop() {
        session.detach()
        work.withLock { $0 }?.cancel()
    }

    private func run() async {
        do {
            let request = try await order.request()
            let response = try await order.send(request, with: client)
            try await deliver(response)
        } catch {
            let error = (error as? URLError) ?? URLError(error, for: order.url)
            session.call(isLast: true) { $0.urlProtocol($1, didFailWithError: error) }
        }
    }

    private func deliver(_ response: Response) async throws {
        let head = try order.head(response)
        #if !canImport(FoundationNetworking)
        if let next = order.redirect { return redirect(to: next, head) }
        #endif
        if let bytes = try response.body.completeBytes(upTo: .max) { return deliver(head, body: bytes) }
        guard await order.isStreaming() else {
            return deliver(
                head,
                body: try await response.body.collect(upTo: client.configuration.maximumBufferedBody)
            )
        }
        session.call { $0.urlProtocol($1, didReceive: head, cacheStoragePolicy: .notAllowed) }
        for try await piece in response.body {
            let data = Data(piece)
            session.call { $0.urlProtocol($1, didLoad: data) }
            try await order.consumerHasTakenAll()
        }
        session.call(isLast: true) { $0.urlProtocolDidFinishLoading($1) }
    }

    /// Reports the response in one piece. FoundationNetworking's completion handlers get only the last piece
    /// of several.
    private func deliver(_ head: HTTPURLResponse, body: [UInt8]) {
        let data = Data(body)
        session.call(isLast: true) { client, host in
            client.urlProtocol(host, didReceive: head, cacheStoragePolicy: .notAllowed)
            if !data.isEmpty { client.urlProtocol(host, didLoad: data) }
            client.urlProtocolDidFinishLoading(host)
        }
    }

    #if !canImport(FoundationNetworking)
    /// Lets the session follow the redirect, which it does with a new object of the class. This loading ends
    /// with the error that Apple's sample code CustomHTTPProtocol uses. Apple's documents do not say what a
    /// session delivers whose delegate refuses the redirect.
    private func redirect(to next: URLRequest, _ head: HTTPURLResponse) {
        session.call(isLast: true) { client, host in
            client.urlProtocol(host, wasRedirectedTo: next, redirectResponse: head)
            client.urlProtocol(host, didFailWithError: CocoaError(.userCancelled))
        }
    }
    #endif
}
