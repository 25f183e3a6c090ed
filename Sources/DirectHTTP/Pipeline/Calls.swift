internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// Makes the values that all requests of a call share, and decodes the content of its last response.
final class Calls: Layer {
    private let redirects: Redirects
    private let layers: InnerLayers
    private let configuration: HTTPClient.Configuration
    private let roundTrip: RoundTrip
    private let fields: ClientFields
    /// The time limits of requests that have none of their own.
    private let limits: Timeouts.Nanoseconds
    private let loop: EventLoop

    init(_ configuration: HTTPClient.Configuration, fields: ClientFields, roundTrip: RoundTrip) {
        redirects = Redirects(configuration, fields: fields)
        layers = InnerLayers(
            configuration,
            cookies: configuration.cookies,
            hedging: configuration.hedging,
            fields: fields,
            roundTrip: roundTrip
        )
        self.configuration = configuration
        self.roundTrip = roundTrip
        self.fields = fields
        limits = configuration.timeouts.nanoseconds(on: roundTrip.planner.threads)
        loop = configuration.loop
    }

    /// Sends the first request of a call, follows the redirects, and decodes the last response.
    @inline(__always)
    func send(_ hop: borrowing HopRequest) async throws -> Response {
        // Checked here, because a request that never suspends would not notice its cancellation.
        if Task.isCancelled { throw CancellationError() }
        hop.call.log?.take(hop.request.explicitTags)
        do {
            let layers = hop.request.hasOptions ? ownLayers(for: hop.request) : self.layers
            var response = try await redirects.send(hop, through: layers)
            try fields.decoding.decode(&response, to: hop.request, within: hop.call.limit)
            return response
        } catch {
            throw error.adding(request: hop.request)
        }
    }

    /// Whether no layer has anything to do with a request without options before there is a response to it.
    var arePlain: Bool { layers.arePlain }

    /// Returns the client's layers, or others for a call that has a cookie store or a hedging policy of its
    /// own.
    private func ownLayers(for request: Request) -> InnerLayers {
        guard request.hedging != nil || request.cookies != nil else { return layers }
        return InnerLayers(
            configuration,
            cookies: request.cookies ?? configuration.cookies,
            hedging: request.hedging ?? configuration.hedging,
            fields: fields,
            roundTrip: roundTrip
        )
    }

    /// Makes the values of a call that begins now.
    func call(for request: Request, _ log: CallLog? = nil) -> Call {
        request.hasOptions ? ownCall(for: request, log) : call(from: loop.now, log)
    }

    /// Makes the values of a call without options.
    func call(from start: Instant, _ log: CallLog? = nil) -> Call {
        Call(limits, from: start, log)
    }

    private func ownCall(for request: Request, _ log: CallLog?) -> Call {
        let limits = request.explicitTimeouts?.over(configuration.timeouts, on: limits.threads) ?? limits
        return Call(limits, from: loop.now, log, waited: request.waited)
    }
}

extension Error {
    /// Returns the error, with the method and the URL of the request if it is an `HTTPError`.
    func adding(request: Request) -> any Error {
        (self as? HTTPError)?.about(request) ?? self
    }
}

/// The values that all requests of one call share: the first request, redirects, authentication and retries.
struct Call: Sendable {
    /// The time limits, the request's own ones applied, and the deadline.
    let limit: CallLimit
    /// Records the call's events; `nil` without an observer.
    var log: CallLog?

    init(
        _ timeouts: Timeouts.Nanoseconds,
        from start: Instant,
        _ log: CallLog? = nil,
        waited: Duration? = nil
    ) {
        let (total, spent) = (timeouts.total, waited?.clampedNanoseconds ?? 0)
        let left = total == .max ? .max : total - min(total, spent)
        limit = CallLimit(timeouts, until: start.advanced(byNanoseconds: left))
        self.log = log
    }

    var timeouts: Timeouts.Nanoseconds { limit.timeouts }
    var end: Instant { limit.end }

    /// Returns the error of a request whose call has reached its deadline before the request begins.
    func overdue(for url: HTTPURL?) -> any Error {
        let limit = Duration.nanoseconds(Int64(clamping: timeouts.total))
        return HTTPError(.request, .timedOut(after: limit), name: url?.host.description)
    }

    /// Records that another request follows, and returns the hop.
    func logging(_ hop: Hop) -> Hop {
        log?.goesOn(hop)
        return hop
    }
}
