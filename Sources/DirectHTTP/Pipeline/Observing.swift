internal import DirectIO

/// Reports the events of each call to the client's observer.
final class Observing: Layer {
    private let observer: @Sendable (CallEvent) -> Void
    private let loop: EventLoop
    private let next: any Layer

    init(observer: @escaping @Sendable (CallEvent) -> Void, loop: EventLoop, next: any Layer) {
        self.observer = observer
        self.loop = loop
        self.next = next
    }

    func send(_ hop: borrowing HopRequest) async throws -> Response {
        let log = CallLog(observer, hop.request, on: loop)
        var hop = copy hop
        hop.call.log = log
        do {
            let response = try await next.send(hop)
            log.conclude(response)
            return response
        } catch {
            log.conclude(error)
            throw error
        }
    }
}
