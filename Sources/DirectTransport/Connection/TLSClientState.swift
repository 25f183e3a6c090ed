internal import DirectCore
internal import DirectIO
internal import DirectTLS

/// The TLS state that all connections of one profile share: the prepared settings, and the sessions to
/// resume.
final class TLSClientState: Sendable {
    let sessions: SessionCache
    private let settings: TLSSettings
    private let made = Locked<Made?>(nil)
    private let queue = Locked(Queue())

    private struct Made {
        let context: TLSContext
        /// The files of the client's certificate as the context has them; `nil` if it is in memory.
        let files: [[UInt8]]?
    }

    /// Not a `Result`, as said at ``Locked``.
    private enum Outcome {
        case made(TLSContext)
        case failed(TLSError)
        /// There is no thread to make it.
        case refused(SystemError)
    }

    /// The connections that wait for a context. One thread at a time makes it for all of them: files that
    /// hang must not take all threads, which other clients and downloads need as well.
    private struct Queue {
        var waiting: [Int: Reply<Outcome>] = [:]
        var count = 0
        var isServed = false
    }

    init(_ settings: TLSSettings, sessions: SessionCache) {
        self.settings = settings
        self.sessions = sessions
    }

    /// Returns the context for connections, which is made on first use, and anew when the files of the
    /// client's certificate have changed. A new context resumes no session of the former one. This reads
    /// files, so it runs off the loop.
    func context(_ deadline: Deadline, on loop: EventLoop) async throws(TransportError) -> TLSContext {
        if settings.clientIdentity?.files == nil, let made = made.withLock({ $0 }) { return made.context }
        let reply = Reply<Outcome>(on: loop)
        let number = ask(for: reply)
        let outcome: Outcome
        do throws(BlockingWork.Abandoned) {
            outcome = try await reply.value(until: deadline.instant)
        } catch {
            queue.withLock { _ = $0.waiting.removeValue(forKey: number) }
            throw deadline.failure(error)
        }
        switch outcome {
        case .made(let context): return context
        case .failed(let error): throw .failed(deadline.phase, .tls(error))
        case .refused(let refusal): throw deadline.failure(.refused(refusal))
        }
    }

    /// Lets a reply wait for the context, and returns its number.
    private func ask(for reply: Reply<Outcome>) -> Int {
        let (number, begins) = queue.withLock { queue in
            queue.count += 1
            queue.waiting[queue.count] = reply
            defer { queue.isServed = true }
            return (queue.count, !queue.isServed)
        }
        if begins {
            BlockingWork.shared.submit(serve) { refusal in
                for reply in self.takeWaiting(ending: true) { reply.give(.refused(refusal)) }
            }
        }
        return number
    }

    /// Answers all that wait, and those that have come meanwhile: a file may have changed before they came.
    private func serve() {
        while case let replies = takeWaiting(ending: false), !replies.isEmpty {
            let outcome = current()
            for reply in replies { reply.give(outcome) }
        }
    }

    /// Returns those that wait. Without any, or if the end is asked for, no thread serves any longer.
    private func takeWaiting(ending: Bool) -> [Reply<Outcome>] {
        queue.withLock { queue in
            defer { queue.waiting = [:] }
            if ending || queue.waiting.isEmpty { queue.isServed = false }
            return Array(queue.waiting.values)
        }
    }

    /// Returns the context, made if there is none for the files as they are.
    private func current() -> Outcome {
        let known = made.withLock { $0 }
        do throws(TLSError) {
            return .made(try renewed(known))
        } catch {
            // Files that are being replaced: the certificate is there, and its key not yet.
            return known.map { .made($0.context) } ?? .failed(error)
        }
    }

    private func renewed(_ known: Made?) throws(TLSError) -> TLSContext {
        let files = settings.clientIdentity?.files
        let contents = try files?.contents()
        if let known, known.files == contents { return known.context }
        var settings = settings
        if let files, let contents { settings.clientIdentity = try files.identity(of: contents) }
        let context = try TLSContext(settings)
        made.withLock { $0 = Made(context: context, files: contents) }
        return context
    }
}
