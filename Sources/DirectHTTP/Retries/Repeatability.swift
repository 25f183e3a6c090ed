internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// Whether the requests that were really sent for one request may be sent again.
///
/// A network interceptor may send another request than the one that the layers above it know: a POST instead
/// of a GET, or a body that can be read once. Each request is noted here right before it is sent. Without
/// interceptors a request is sent as the layers know it, and none is noted.
final class Repeatability: Sendable {
    private struct Facts {
        var isIdempotent = true
        var isUpgrade = false
        /// The bodies that can be sent once.
        var streams: [StreamedBody] = []
    }

    private let facts = Locked(Facts())

    /// Notes a request that is about to be sent.
    func note(_ method: HTTPMethod, _ body: BodyContent, isUpgrade: Bool) {
        facts.withLock { facts in
            facts.isIdempotent = facts.isIdempotent && method.isIdempotent
            facts.isUpgrade = facts.isUpgrade || isUpgrade
            if case .stream(let stream) = body, !stream.isReplayable { facts.streams.append(stream) }
        }
    }

    /// Whether all of them had idempotent methods.
    var isIdempotent: Bool { facts.withLock { $0.isIdempotent } }

    /// Whether the bodies of all of them can still be sent.
    var canBeSent: Bool { facts.withLock { $0.streams.allSatisfy(\.canBeSent) } }

    /// Whether the server may get each of them twice at a time.
    var mayBeHedged: Bool { facts.withLock { $0.isIdempotent && $0.streams.isEmpty && !$0.isUpgrade } }
}
