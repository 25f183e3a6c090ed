internal import DirectHTTP1
internal import DirectIO

/// What a request wants of a cache, and what it would have to be content with.
struct CacheQuestion: Sendable {
    let method: Method
    let control: CacheControl
    let fields: SelectingFields
    /// Conditions of the caller's own, which a cache can answer.
    let conditions: ClientConditions
    /// The part of the content that is asked for, as the field says it.
    let range: String?
    /// Nothing is looked up for it, and nothing kept.
    let passes: Bool

    init(_ request: Request, defaults: Headers) {
        let headers = request.headers
        method = request.method
        fields = SelectingFields(headers: headers, defaults: defaults)
        conditions = ClientConditions(headers)
        range = headers.index(of: "range") == nil ? nil : headers["Range"]
        var control = CacheControl(headers)
        // What HTTP/1.0 had instead (RFC 9111, section 5.4).
        if headers.index(of: "cache-control") == nil, headers.lists("no-cache", in: "pragma") {
            control.noCache = true
        }
        self.control = control
        let isRead = method == .get || method == .head
        // A body may say what is asked for, and another protocol is no answer that can be kept.
        let isPlain = request.body.isNothing && request.upgrade.isEmpty
        passes = !isRead || !isPlain || control.noStore || headers.hasConditionsForServers
    }

    /// What to do, with the response that is kept, if any.
    func plan(_ stored: CachedHead?, at now: UnixTime) -> CachePlan {
        guard let stored else { return control.onlyIfCached ? .refuse : .ask }
        if isAnswered(by: stored, at: now) { return .serve(isStale: stored.freshness(at: now) <= 0) }
        if control.onlyIfCached { return .refuse }
        if mayBeAnsweredMeanwhile(by: stored, at: now) { return .serveAndRevalidate }
        return .ask
    }

    /// Whether the origin can be asked if what is kept still holds. Not where the caller has a version of its own
    /// to compare with, or wants a part: that cannot be joined with ours.
    func canValidate(_ stored: CachedHead) -> Bool {
        conditions.isEmpty && range == nil && method == .get && stored.hasValidator
    }

    /// RFC 9111, sections 4.2 and 5.2.1.
    private func isAnswered(by stored: CachedHead, at now: UnixTime) -> Bool {
        guard !control.noCache, !stored.control.noCache else { return false }
        let age = stored.age(at: now)
        if let maxAge = control.maxAge, age > maxAge { return false }
        let freshness = stored.freshness(at: now)
        if freshness > 0 { return freshness >= control.minFresh ?? 0 }
        guard let bound = control.maxStale, control.minFresh == nil, age < .max else { return false }
        return !stored.control.mustRevalidate && -freshness <= bound
    }

    /// RFC 5861, section 3.
    private func mayBeAnsweredMeanwhile(by stored: CachedHead, at now: UnixTime) -> Bool {
        guard let window = stored.control.staleWhileRevalidate, stored.mayBeStale, control.asksForNothing
        else { return false }
        return stored.isStale(forAtMost: window, at: now)
    }

    /// Whether an old response is better than the failure to get a new one (RFC 5861, section 4).
    func isConsoled(
        by stored: CachedHead,
        at now: UnixTime,
        _ failure: CacheFailure,
        _ patience: CachePatience
    )
        -> Bool
    {
        guard stored.mayBeStale, !control.noCache, control.maxAge == nil, control.minFresh == nil else {
            return false
        }
        var window = [stored.control.staleIfError, control.staleIfError].compactMap { $0 }.max()
        if failure == .unreachable, patience.whenUnreachable > 0 {
            window = max(window ?? 0, patience.whenUnreachable)
        }
        return window.map { stored.isStale(forAtMost: $0, at: now) } ?? false
    }
}

/// What becomes of a request.
enum CachePlan: Hashable, Sendable {
    /// It is answered by what there is.
    case serve(isStale: Bool)
    /// The same, and for the next one something newer is fetched meanwhile.
    case serveAndRevalidate
    /// The origin is asked, for a response or whether what there is still holds.
    case ask
    /// Nobody answers: the caller wanted nothing but what there is (504).
    case refuse
}

/// How a newer response could not be had.
enum CacheFailure: Hashable, Sendable {
    /// The origin says that it has a problem.
    case serverError
    /// It could not be asked, or did not answer.
    case unreachable
}

/// What a cache may do that no message allowed, in seconds.
struct CachePatience: Hashable, Sendable {
    /// How old a stale response may be where the origin cannot be reached (RFC 9111, section 4.2.4).
    var whenUnreachable: Int64 = 0
}

extension CacheControl {
    /// Whether a request leaves the freshness to the response.
    fileprivate var asksForNothing: Bool {
        !noCache && maxAge == nil && minFresh == nil
    }
}

extension CachedHead {
    /// Whether it may ever be served stale (RFC 9111, sections 4.2.4 and 5.2.2.2).
    fileprivate var mayBeStale: Bool { !control.mustRevalidate && !control.noCache }

    fileprivate func isStale(forAtMost window: Int64, at now: UnixTime) -> Bool {
        let freshness = freshness(at: now)
        return freshness > -.max && -freshness < window
    }
}

extension RequestBody {
    /// Whether nothing is sent, or no bytes.
    fileprivate var isNothing: Bool { bytesInMemory?.isEmpty ?? false }
}

extension Headers {
    /// Conditions that are not about what the caller has, but about what the server has.
    fileprivate var hasConditionsForServers: Bool {
        index(of: "if-match") != nil || index(of: "if-unmodified-since") != nil
            || index(of: "if-range") != nil
    }
}
