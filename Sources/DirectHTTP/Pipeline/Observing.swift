internal import DirectIO

/// Reports the events of each call to the client's observer.
final class Observing: CallLayer {
    let observer: CallObserver
    let loop: EventLoop
    let next: any CallLayer

    init(observer: @escaping CallObserver, loop: EventLoop, next: any CallLayer) {
        self.observer = observer
        self.loop = loop
        self.next = next
    }

    /// `log` is `nil`: the call's log is made here.
    func send(_ request: Request, original: Request, isContinued: Bool, log: CallLog?) async throws
        -> Response
    {
        let log = CallLog(observer, request, on: loop)
        do {
            let response = try await next.send(
                request,
                original: original,
                isContinued: isContinued,
                log: log
            )
            log.conclude(response)
            return response
        } catch {
            log.conclude(error)
            throw error
        }
    }
}
