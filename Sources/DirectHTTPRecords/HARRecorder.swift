public import DirectHTTP
internal import DirectCore
internal import DirectHTTP1
internal import DirectJSON
internal import DirectTransport

/// Records the requests of clients on the network, with their responses, as an archive in HAR 1.2. Browsers'
/// developer tools show such archives, and ``HARReplay`` answers requests from them.
///
/// ```swift
/// let recorder = HARRecorder()
/// let client = HTTPClient { $0.networkInterceptors.append(recorder.interceptor) }
/// ```
///
/// Place its interceptor last to record what is sent and received. Responses of the cache are not recorded,
/// because no request is made for them. Bodies are recorded as they are read and cost memory up to the
/// limits.
public final class HARRecorder: Sendable {
    private let entries = Locked<[HARRecord]>([])
    private let redaction: Redaction
    private let maximumBody: Int
    private let maximumEntries: Int
    /// The system's clock shows seconds only; the time since then has a finer clock.
    private let anchor = (date: UnixTime.now, instant: Instant.now)

    /// Makes a recorder without entries.
    ///
    /// - Parameters:
    ///   - redaction: What the archive hides.
    ///   - maximumBody: The number of bytes of a body that are recorded. A larger body is recorded without
    ///     its content.
    ///   - maximumEntries: The number of requests that are recorded. Further ones replace the oldest.
    public init(
        redacting redaction: Redaction = Redaction(),
        maximumBody: Int = 1 << 20,
        maximumEntries: Int = 1_000
    ) {
        self.redaction = redaction
        self.maximumBody = max(0, maximumBody)
        self.maximumEntries = max(1, maximumEntries)
    }

    /// The network interceptor that records.
    public var interceptor: Interceptor {
        { [self] request, forward in
            let record = HARRecord(request, since: anchor, maximumBody: maximumBody)
            add(record)
            do {
                return record.recording(try await forward(request))
            } catch {
                record.fail(error)
                throw error
            }
        }
    }

    /// The archive of all requests so far, as JSON. A body that is still being read is not part of it.
    public var archive: String {
        let lines = entries.withLock { $0 }.map { HAREntry($0.facts, redacting: redaction).json.description }
        return """
            {"log":{"version":"1.2","creator":{"name":"direct-http","version":"\(PackageVersion.text)"},"entries":[
            \(lines.joined(separator: ",\n"))
            ]}}

            """
    }

    /// Forgets all requests.
    public func removeAll() {
        entries.withLock { $0 = [] }
    }

    private func add(_ record: HARRecord) {
        entries.withLock { entries in
            if entries.count >= maximumEntries { entries.removeFirst(entries.count - maximumEntries + 1) }
            entries.append(record)
        }
    }
}

/// A request and what has been received of its response.
final class HARRecord: Sendable {
    /// What is known so far.
    struct Recorded: Sendable {
        let request: Request
        let started: UnixTime
        let milliseconds: Int
        var response: Response?
        var failure: String?
        var content: [UInt8] = []
        var contentCount = 0
        /// Whether the content is complete: it was read to its end and is not larger than the limit.
        var isComplete = false
        /// The time from the start to the end of the response's body, or to the failure.
        var duration: Duration?
    }

    private let state: Locked<Recorded>
    private let start = Instant.now
    private let maximumBody: Int

    init(_ request: Request, since anchor: (date: UnixTime, instant: Instant), maximumBody: Int) {
        let milliseconds = Int64(start.since(anchor.instant).clampedNanoseconds / 1_000_000)
        var request = request
        // A stream cannot be recorded without reading it before it is sent.
        if request.body.bytesInMemory.map({ $0.count > maximumBody }) ?? true {
            request.body = RequestBody(.none, contentType: request.body.contentType)
        }
        self.maximumBody = maximumBody
        let date = anchor.date.advanced(bySeconds: milliseconds / 1_000)
        state = Locked(Recorded(request: request, started: date, milliseconds: Int(milliseconds % 1_000)))
    }

    var facts: Recorded { state.withLock { $0 } }

    /// Returns the response with a body that is recorded while it is read.
    func recording(_ response: Response) -> Response {
        var kept = response
        kept.body.content = .complete([], HTTPHeaders(), nil)
        state.withLock { $0.response = kept }
        switch response.body.content {
        case .complete(let bytes, _, _):
            append(bytes)
            end(isComplete: true)
            return response
        case .arriving(let body) where body.idleSource is UpgradedSource:
            end(isComplete: true)
            return response
        case .arriving(let body):
            var recording = response
            recording.body.content = .arriving(GuardedBody(RecordingSource(body, record: self)))
            return recording
        }
    }

    func append(_ piece: [UInt8]) {
        state.withLock { facts in
            facts.contentCount += piece.count
            guard facts.contentCount <= maximumBody else { return facts.content = [] }
            facts.content += piece
        }
    }

    func end(isComplete: Bool) {
        let duration = Instant.now.since(start)
        state.withLock { facts in
            guard facts.duration == nil else { return }
            facts.isComplete = isComplete && facts.contentCount <= maximumBody
            facts.duration = duration
        }
    }

    /// Records that there is no response, or that its body failed.
    func fail(_ error: any Error) {
        // The text of other code's errors may contain anything, even secrets.
        let text =
            (error as? HTTPError).map { "\($0)" } ?? (error is CancellationError ? "cancelled" : "failed")
        state.withLock { if $0.duration == nil { $0.failure = text } }
        end(isComplete: false)
    }
}

/// The pieces of a response body, which are recorded as they are read.
private final class RecordingSource: ResponseBodySource {
    private let body: GuardedBody
    private let record: HARRecord

    init(_ body: GuardedBody, record: HARRecord) {
        self.body = body
        self.record = record
    }

    deinit { record.end(isComplete: false) }

    func next() async throws -> [UInt8]? {
        let piece = try await body.next()
        if let piece { record.append(piece) } else { record.end(isComplete: true) }
        return piece
    }

    func drain() async {
        await body.drain()
        record.end(isComplete: false)
    }

    func fail(_ error: any Error, after collected: [UInt8]) -> any Error {
        record.fail(error)
        return error
    }

    func take(_ wait: PieceWait) -> Bool { body.take(wait) }

    var limit: CallLimit { body.limit }
    var bytesLeft: UInt64? { body.bytesLeft }
    var trailers: HTTPHeaders { body.trailers }
    var location: BodyLocation { body.location }
}
