internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// One download: requests for a resource or for the rest of it, until its file is complete.
///
/// Each attempt is a request of its own through all layers of the client, redirects included. What it brings
/// is written to the partial file. Then:
///
/// - **complete**: the file is verified and renamed to its target.
/// - **a part**: the server sent less than it was asked for. The next attempt asks for the rest.
/// - **failed**: the request failed, its body broke off, or the status is one that the retry policy lists.
///   The next attempt follows as the policy says, at another address if there is one, and asks for the rest
///   if the version of the content has a strong validator. Attempts that brought bytes which can be continued
///   do not count.
/// - **disagreement**: what the server sends does not continue the file. The next attempt asks for the whole,
///   as often as ``DownloadOptions/maximumRestarts`` allows.
///
/// Every other result ends the download with an error. The partial file stays if it can be continued.
struct Download {
    /// The end of an attempt.
    private enum Outcome {
        case complete(Response)
        case part
        case failed(Result<Response, HTTPError>, broughtBytes: Bool = false)
        case disagreement(DownloadError.Restart)
    }

    /// The request as the caller made it, for the whole.
    private let hop: HopRequest
    private let options: DownloadOptions
    private let disk: DownloadDisk
    private let pipeline: Pipeline
    private let policy: RetryPolicy
    private let loop: EventLoop
    private let onProgress: (@Sendable (TransferProgress) -> Void)?

    private var history: [Hop] = []
    private var endpoints: FailedEndpoints
    private var restarts = 0
    /// Attempts in a row that brought no bytes which can be continued.
    private var failures = 0
    /// Whether the next attempt has to ask for the whole, although the file could be continued.
    private var wantsWhole = false
    /// The number of responses that the file is made of.
    private var parts: Int
    /// Whether the partial file has turned out to be of no use.
    private(set) var isUseless = false
    private let resumedBytes: UInt64

    init(
        _ hop: HopRequest,
        _ options: DownloadOptions,
        to disk: DownloadDisk,
        through pipeline: Pipeline,
        onProgress: (@Sendable (TransferProgress) -> Void)?
    ) {
        self.hop = hop
        self.options = options
        self.disk = disk
        self.pipeline = pipeline
        policy = hop.request.retries ?? pipeline.configuration.retries ?? RetryPolicy()
        loop = pipeline.configuration.loop
        self.onProgress = onProgress
        endpoints = hop.request.failedEndpoints
        resumedBytes = Self.rest(of: disk, options)?.start ?? 0
        parts = resumedBytes > 0 ? 1 : 0
    }

    /// Makes attempts until the file is complete and verified. The file is not moved to its target yet.
    mutating func run() async throws -> DownloadResult {
        while true {
            switch try await attempt() {
            case .complete(let response):
                if let result = try await verify(response) { return result }
            case .part: failures = 0
            case .failed(let result, let broughtBytes):
                failures = broughtBytes ? 0 : failures + 1
                try await pause(after: result)
            case .disagreement(let reason): try restart(because: reason)
            }
        }
    }

    /// Sends one request and writes what it brings.
    private mutating func attempt() async throws -> Outcome {
        let wanted = wantedRest
        let response: Response
        do {
            response = try await pipeline.send(prepared(for: wanted))
        } catch let error as HTTPError {
            endpoints.recordFailure(at: error.endpointOfFailure)
            history += error.history
            return .failed(.failure(inTime(error)))
        }
        history += response.history
        if policy.statuses.contains(response.status) {
            if response.status.isServerError { endpoints.recordFailure(at: response.transaction?.endpoint) }
            return .failed(.success(response))
        }
        let judgement = PartJudgement(
            response.head,
            from: response.url.withoutFragment,
            identity: response.unprovedIdentity,
            bodyLength: response.body.bytesLeft,
            wanted: wanted
        )
        return try await use(response, judgement: judgement, wanted: wanted)
    }

    private mutating func use(_ response: Response, judgement: PartJudgement, wanted: WantedRest?)
        async throws
        -> Outcome
    {
        switch judgement {
        case .whole(let representation):
            // A server that ignores the range has the same effect as one whose resource has changed.
            if wanted != nil { try restart(because: .wholeContent) }
            return try await receive(response, of: representation, end: representation.length, wanted: nil)
        case .rest(let representation, let end):
            return try await receive(response, of: representation, end: end, wanted: wanted)
        case .useless(let reason):
            // Another server may do better. One that has no such range, or another version, may be right.
            if reason != .noSuchRange { endpoints.recordFailure(at: response.transaction?.endpoint) }
            history.append(Hop(.retry, request.method, response))
            await response.body.drain()
            return .disagreement(reason)
        case .status: throw failure(response)
        case .coded: throw error(.download(.coded), response)
        }
    }
}

/// The bytes of a response.
extension Download {
    /// Writes the body to the file.
    ///
    /// - Parameter end: The position at which the body ends; `nil` if it is unknown.
    /// - Parameter wanted: What the body continues; `nil` if it is the whole.
    private mutating func receive(
        _ response: Response,
        of representation: Representation,
        end: UInt64?,
        wanted: WantedRest?
    ) async throws -> Outcome {
        try check(representation.length ?? 0, response)
        if let expected = options.length, let length = representation.length, length != expected {
            throw error(.download(.wrongLength(expected: expected, actual: length)), response)
        }
        let start = wanted?.start ?? 0
        try await disk.run { partial throws(SystemError) in
            try wanted == nil ? partial.begin(representation) : partial.update(representation)
        }
        wantsWhole = false
        parts = wanted == nil ? 1 : parts + 1
        let failure: HTTPError?
        do {
            failure = try await copy(response, from: start, end: end, total: representation.length)
        } catch is TooLong {
            // None of these bytes can be trusted.
            try await disk.run { partial throws(SystemError) in try partial.begin(representation) }
            endpoints.recordFailure(at: response.transaction?.endpoint)
            return .disagreement(.tooLong)
        }
        let size = disk.partial.position.size
        if size == representation.length || (failure == nil && representation.length == nil) {
            return .complete(response)
        }
        guard let failure else {
            history.append(Hop(.retry, request.method, response))
            // Otherwise a server that sends empty parts would be asked again and again.
            guard size == end else {
                endpoints.recordFailure(at: response.transaction?.endpoint)
                return .disagreement(.tooShort)
            }
            return .part
        }
        endpoints.recordFailure(at: failure.endpoint)
        let broughtBytes = representation.validator != nil && size > start
        return .failed(.failure(inTime(failure)), broughtBytes: broughtBytes)
    }

    /// The body has more bytes than its head announces.
    private struct TooLong: Error {}

    /// Writes the body to the file. Returns the error with which the body ended; everything up to there is
    /// written.
    private mutating func copy(
        _ response: Response,
        from start: UInt64,
        end: UInt64?,
        total: UInt64?
    ) async throws -> HTTPError? {
        var position = start
        var gathered: [UInt8] = []
        var failure: HTTPError?
        var iterator = response.body.makeAsyncIterator()
        onProgress?(TransferProgress(bytes: position, total: total))
        while true {
            let piece: [UInt8]?
            do {
                piece = try await iterator.next()
            } catch let error as HTTPError {
                failure = error
                break
            } catch {
                await keep(gathered)
                throw error
            }
            guard let piece else { break }
            position += UInt64(piece.count)
            guard position <= end ?? .max else { throw TooLong() }
            try check(position, response)
            // A length that was announced has been compared before; without one the content may have no end.
            if let expected = options.length, position > expected {
                isUseless = true
                throw error(.download(.wrongLength(expected: expected, actual: position)), response)
            }
            if gathered.isEmpty { gathered = piece } else { gathered += piece }
            if gathered.count >= Self.bytesWorthWriting { try await write(&gathered) }
            onProgress?(TransferProgress(bytes: position, total: total))
        }
        if failure != nil, call.end <= loop.now { await keep(gathered) } else { try await write(&gathered) }
        return failure
    }

    /// Writes the last bytes of a download whose task is cancelled or whose time is over.
    private func keep(_ bytes: [UInt8]) async {
        await disk.conclude { try? $0.append(bytes) }
    }

    private func write(_ gathered: inout [UInt8]) async throws {
        guard !gathered.isEmpty else { return }
        let bytes = gathered
        gathered = []
        try await disk.append(bytes)
    }

    /// Throws if so many bytes are more than the caller accepts.
    private func check(_ size: UInt64, _ response: Response) throws {
        guard size > options.maximumSize ?? .max else { return }
        throw error(.bodyTooLarge(limit: Int(clamping: options.maximumSize ?? .max)), response)
    }

    /// The number of bytes to collect before a write. Each write costs a switch to another thread.
    private static var bytesWorthWriting: Int { 1 << 20 }
}

/// The steps between the attempts, and after the last one.
extension Download {
    /// The range that the next attempt asks for; `nil` for the whole.
    private var wantedRest: WantedRest? {
        wantsWhole ? nil : Self.rest(of: disk, options)
    }

    /// What is missing in the partial file; `nil` if that cannot be continued.
    private static func rest(of disk: DownloadDisk, _ options: DownloadOptions) -> WantedRest? {
        let (representation, size) = disk.partial.position
        return WantedRest(representation, from: size, isVerified: options.sha256 != nil)
    }

    /// Returns the request of an attempt.
    private func prepared(for wanted: WantedRest?) -> Request {
        var request = request
        // Of coded content a part cannot be decoded, and two encoders make different bytes under one
        // validator.
        request.headers["Accept-Encoding"] = "identity"
        if let wanted {
            request.headers["Range"] = "bytes=\(wanted.start)-"
            request.headers["If-Range"] = wanted.validator.text
        }
        request.retries = .singleAttempt
        request.failedEndpoints = endpoints
        request.repeatability = hop.repeatability
        request.bypassesCache = true
        if call.end < .never { request.timeouts.total = .after(max(.zero, call.end.since(loop.now))) }
        return request
    }

    /// Waits as the retry policy says, or throws the failure if the policy allows no further attempt.
    private mutating func pause(after result: Result<Response, HTTPError>) async throws {
        switch await policy.next(after: max(1, failures), result, of: hop, on: loop) {
        case .end(let stop):
            switch result {
            case .success(let response): throw failure(response, stop: stop)
            case .failure(var error):
                error.history = history
                error.retryStop = stop
                throw error
            }
        case .wait(let wait):
            let end = loop.now.advanced(byNanoseconds: wait.clampedNanoseconds)
            if let hop = await result.hopBeforeRetry(of: request) { history.append(hop) }
            try await loop.sleep(until: end)
        }
    }

    /// Lets the next attempt ask for the whole; throws if that has been done too often.
    private mutating func restart(because reason: DownloadError.Restart) throws {
        guard restarts < options.maximumRestarts else {
            let error = DownloadError.tooManyRestarts(restarts, last: reason)
            throw HTTPError(.response, .download(error), name: name).after(history)
        }
        restarts += 1
        wantsWhole = true
    }

    /// Returns the result if the file has the expected length and digest; `nil` if it has to be downloaded
    /// anew.
    private mutating func verify(_ response: Response) async throws -> DownloadResult? {
        let size = disk.partial.position.size
        if let expected = options.length, size != expected {
            isUseless = true
            throw error(.download(.wrongLength(expected: expected, actual: size)), response)
        }
        let digest = try await disk.run { $0.digest }
        if let expected = options.sha256, digest != expected {
            isUseless = true
            guard parts > 1 else {
                throw error(.download(.wrongDigest(expected: expected, actual: digest ?? [])), response)
            }
            try restart(because: .wrongDigest)
            isUseless = false
            return nil
        }
        policy.refillBudget(after: .success(response))
        return DownloadResult(
            url: response.url,
            headers: response.headers,
            transaction: response.transaction,
            size: size,
            sha256: digest ?? [],
            resumedBytes: restarts == 0 ? resumedBytes : 0,
            restarts: restarts,
            history: history
        )
    }

    private var request: Request { hop.request }
    private var call: Call { hop.call }
    private var name: String? { (try? request.url)?.host.description }

    private func error(_ reason: HTTPError.Reason, _ response: Response) -> HTTPError {
        let (line, endpoint) = (response.line(to: request), response.transaction?.endpoint)
        return HTTPError(.body, reason, method: line.method, url: line.url, endpoint: endpoint).after(history)
    }

    private func failure(_ response: Response, stop: RetryStop? = nil) -> HTTPError {
        var response = response
        response.history = history
        response.retryStop = stop
        return response.statusError([]).about(response.line(to: request))
    }

    /// Returns the error, with the caller's limit if the time of the whole download is over.
    private func inTime(_ error: HTTPError) -> HTTPError {
        guard case .timedOut = error.reason, call.end <= loop.now else { return error }
        var error = error
        error.reason = HTTPError.Reason(call.limit.timeout)
        return error
    }
}

extension RetryPolicy {
    /// The policy of requests whose caller makes the retries.
    static var singleAttempt: RetryPolicy {
        var policy = RetryPolicy()
        policy.attempts = 1
        policy.statuses = []
        policy.retriesFailures = false
        policy.budget = nil
        return policy
    }
}
