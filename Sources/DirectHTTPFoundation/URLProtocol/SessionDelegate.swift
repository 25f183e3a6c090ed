#if canImport(FoundationNetworking)
internal import DirectCore
internal import DirectHTTP
internal import DirectIO
internal import Dispatch
internal import Foundation
internal import FoundationNetworking

/// The delegate of a task or of its session, called on the session's delegate queue.
struct SessionDelegate: @unchecked Sendable {
    private let delegate: any URLSessionTaskDelegate
    private let session: URLSession
    private let task: URLSessionTask
    private let cookies: SessionCookies?
    private let queue: DispatchQueue?

    /// Fails if the session is not known, or if neither the task nor the session has a delegate.
    init?(_ inside: SessionInside, _ cookies: SessionCookies?) {
        guard let session = inside.session, let delegate = inside.task.delegate else { return nil }
        self.delegate = delegate
        self.session = session
        task = inside.task
        queue = inside.queue
        self.cookies = cookies
    }

    /// The body of an upload that was created without one. The delegate is asked for it each time that it is
    /// sent, as by a session, and within the limits of the call.
    ///
    /// - Parameter length: The length that the request has announced.
    func body(of length: UInt64?, type: String?) -> RequestBody {
        let next = Locked<InputPieces?>(nil)
        // A delegate may give the one stream that it has each time. Its rest is not the body.
        let renew: @Sendable () async -> Bool = {
            guard let pieces = try? await givenPieces(), pieces.isUnread else { return false }
            next.withLock { $0 = pieces }
            return true
        }
        return .replayable(length: length, contentType: type, renew: renew) {
            if let pieces = next.withLock({ $0.take() }) { return pieces }
            guard let pieces = try await givenPieces() else { throw StreamFailure.usedUp }
            return pieces
        }
    }

    private func givenPieces() async throws -> InputPieces? {
        try await ask { answer in
            delegate.urlSession(session, task: task) { answer($0.map(InputPieces.init)) }
        }
    }

    /// Asks whether to follow a redirect.
    func decide(_ redirect: Redirect) async throws -> Request? {
        guard let proposed = URLRequest(next: redirect), let head = HTTPURLResponse(redirect) else {
            return redirect.next
        }
        guard let decided = try await decide(on: proposed, after: head) else { return nil }
        guard !decided.asksTheSame(as: proposed) else { return redirect.next }
        var next = Request(decided)
        // As the server has written it, also what Foundation has to escape.
        if decided.url == proposed.url, let url = try? redirect.next.url { next.setURL(url) }
        // As URLSession does it, also in a request that was made anew; as far as the redirect may carry them.
        let additional = session.configuration.httpAdditionalHeaders ?? [:]
        for name in additional.keys.compactMap({ $0 as? String }) + ["Accept-Language"]
        where !next.headers.contains(name) {
            for value in redirect.next.headers.values(for: name) { next.headers.add(name, value) }
        }
        if let body = proposed.httpBodyStream, body === decided.httpBodyStream {
            next.body = [.get, .head].contains(next.method) ? .none : redirect.next.body
        }
        return next
    }

    /// Asks for the request to send after a redirect; `nil` delivers the redirect.
    func decide(on proposed: URLRequest, after head: HTTPURLResponse) async throws -> URLRequest? {
        let decided: URLRequest? = try await ask { answer in
            delegate.urlSession(
                session,
                task: task,
                willPerformHTTPRedirection: head,
                newRequest: proposed,
                completionHandler: answer
            )
        }
        guard let decided, let cookies else { return decided }
        return cookies.taken(from: decided, proposed: proposed.value(forHTTPHeaderField: "Cookie"))
    }

    /// Calls the delegate and waits for its answer; not once the task has been cancelled: no session asks a
    /// delegate that it has told of the end.
    private func ask<Answer: Sendable>(
        _ question: @escaping @Sendable (_ answer: @escaping @Sendable (Answer) -> Void) -> Void
    ) async throws -> Answer {
        try await answer { reply in
            guard let queue else { return session.delegateQueue.addOperation { question(reply) } }
            // A cancellation changes the state on this queue, and tells the end behind that.
            queue.async {
                guard task.state != .canceling, task.state != .completed else { return }
                session.delegateQueue.addOperation { question(reply) }
            }
        }
    }
}

/// Asks code of the program's and waits for its answer. It may never answer, so the end of the task ends the
/// wait.
func answer<Answer: Sendable>(
    to question: (_ reply: @escaping @Sendable (Answer) -> Void) -> Void
) async throws -> Answer {
    let reply = Reply<Answer>(on: .shared)
    question { reply.give($0) }
    do throws(BlockingWork.Abandoned) {
        return try await reply.value(until: .never)
    } catch {
        throw CancellationError()
    }
}

extension URLRequest {
    /// Whether both send the same to the server. `==` does not compare fields here (Swift 6.3).
    fileprivate func asksTheSame(as other: URLRequest) -> Bool {
        url == other.url && httpMethod == other.httpMethod && allHTTPHeaderFields == other.allHTTPHeaderFields
            && httpBody == other.httpBody && httpBodyStream === other.httpBodyStream
            && cachePolicy == other.cachePolicy
    }

    /// The request that a redirect would send next.
    fileprivate init?(next redirect: Redirect) {
        self.init(headOf: redirect.next)
        // Stands for the body, which Foundation cannot always hold. A copy of this request has the same
        // object, and a request that the delegate has made anew has not.
        if ![.get, .head].contains(redirect.next.method) { httpBodyStream = InputStream(data: Data()) }
    }
}

extension HTTPURLResponse {
    /// The head of a redirect.
    fileprivate convenience init?(_ redirect: Redirect) {
        guard let url = (try? redirect.request.url).flatMap(URL.init) else { return nil }
        self.init(
            url: url,
            statusCode: Int(redirect.status.code),
            httpVersion: "HTTP/1.1",
            headerFields: redirect.headers.folded
        )
    }
}
#endif
