internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// The requirements that a request places on a cache.
///
/// It is a pure value: it knows no store and no clock. `plan` decides what to do with the entry that the
/// store found.
struct CacheRequestPolicy: Sendable {
    let method: HTTPMethod
    let control: CacheControl
    let fields: VaryFields
    /// The caller's own conditions that a cache can answer.
    let conditions: ClientConditions
    /// The value of the `Range` field.
    let range: String?
    /// Whether no cache entry may answer the request, neither after revalidation nor as a substitute for a
    /// failure.
    let isReload: Bool
    /// Whether the request's settings keep it apart from the cache, whatever its method: it may reach another
    /// server than the host of other requests. No entry is looked up, and the response is not stored.
    let isApart: Bool
    /// Whether no entry is looked up: the request is kept apart, or a cache cannot answer it.
    let passes: Bool

    init(_ request: Request, defaults: HTTPHeaders, asker: Asker = .anonymous) {
        method = request.method
        isReload = request.ignoresStoredResponses
        fields = VaryFields(headers: request.headers, defaults: defaults, asker: asker)
        var headers = request.headers
        if defaults.concernCaches { headers.complete(with: defaults) }
        conditions = ClientConditions(headers)
        range = headers.index(of: "range") == nil ? nil : headers["Range"]
        var control = CacheControl(headers)
        // The HTTP/1.0 equivalent (RFC 9111, section 5.4).
        if headers.index(of: "cache-control") == nil, headers.lists("no-cache", in: "pragma") {
            control.noCache = true
        }
        self.control = control
        let isRead = method == .get || method == .head
        // A request body may select the response, and a protocol switch has no response to store.
        let isPlain = request.body.isNothing && request.upgrade.isEmpty
        isApart = request.bypassesCache || request.changesTrust || request.unixSocket != nil
        passes = isApart || !isRead || !isPlain || control.noStore || headers.hasConditionsForServers
    }

    /// Decides what to do with the request, given the cache entry if there is one.
    func plan(_ stored: CachedHead?, at now: UnixTime) -> CacheDecision {
        guard let stored, !isReload else { return control.onlyIfCached ? .refuse : .ask }
        if isAnswered(by: stored, at: now) { return .serve(isStale: stored.freshness(at: now) <= 0) }
        if control.onlyIfCached { return .refuse }
        if mayBeAnsweredMeanwhile(by: stored, at: now) { return .serveAndRevalidate }
        return .ask
    }

    /// Whether the origin can be asked to confirm the entry.
    ///
    /// This is not possible if the caller sent conditions of its own, or asked for a range, which could not
    /// be combined with the entry.
    func canValidate(_ stored: CachedHead) -> Bool {
        !isReload && conditions.isEmpty && range == nil && method == .get && stored.hasValidator
    }

    /// Whether the entry may be used without asking the origin (RFC 9111, sections 4.2 and 5.2.1).
    private func isAnswered(by stored: CachedHead, at now: UnixTime) -> Bool {
        guard !control.noCache, !stored.control.noCache else { return false }
        let age = stored.age(at: now)
        if let maxAge = control.maxAge, age > maxAge { return false }
        let freshness = stored.freshness(at: now)
        if freshness > 0 { return freshness >= control.minFresh ?? 0 }
        guard let bound = control.maxStale, control.minFresh == nil, age < .max else { return false }
        return !stored.control.mustRevalidate && -freshness <= bound
    }

    /// Whether the entry may be used while it is revalidated in the background (RFC 5861, section 3).
    private func mayBeAnsweredMeanwhile(by stored: CachedHead, at now: UnixTime) -> Bool {
        guard let window = stored.control.staleWhileRevalidate, stored.mayBeStale, control.asksForNothing
        else { return false }
        return stored.isStale(forAtMost: window, at: now)
    }

    /// Whether a stale entry may be used in place of this failure (RFC 5861, section 4).
    func servesStaleOnError(
        by stored: CachedHead,
        at now: UnixTime,
        _ failure: CacheFailure,
        staleLimits: StaleLimits
    )
        -> Bool
    {
        guard !isReload, stored.mayBeStale, !control.noCache, control.maxAge == nil, control.minFresh == nil
        else {
            return false
        }
        var window = [stored.control.staleIfError, control.staleIfError].compactMap { $0 }.max()
        if failure == .unreachable, staleLimits.whenUnreachable > 0 {
            window = max(window ?? 0, staleLimits.whenUnreachable)
        }
        return window.map { stored.isStale(forAtMost: $0, at: now) } ?? false
    }
}

/// The decision about a request.
enum CacheDecision: Equatable, Sendable {
    /// Answer with the entry.
    case serve(isStale: Bool)
    /// Answer with the entry, and fetch a newer response in the background for later requests.
    case serveAndRevalidate
    /// Send the request to the origin, to get a response or to confirm the entry.
    case ask
    /// Answer with 504, since the caller asked for `only-if-cached` and there is no suitable entry.
    case refuse
}

/// The way in which the origin failed to give a newer response.
enum CacheFailure: Equatable, Sendable {
    /// The origin answered with a server error.
    case serverError
    /// The origin could not be reached, or did not answer.
    case unreachable
}

/// Permissions of the cache's owner beyond those in the messages, in seconds.
struct StaleLimits: Equatable, Sendable {
    /// The time for which a response may have been stale if the origin cannot be reached (RFC 9111, section
    /// 4.2.4).
    var whenUnreachable: Int64 = 0
}

extension CacheControl {
    /// Whether the request has no requirements about freshness.
    fileprivate var asksForNothing: Bool {
        !noCache && maxAge == nil && minFresh == nil
    }
}

extension CachedHead {
    /// Whether the response may ever be served stale (RFC 9111, sections 4.2.4 and 5.2.2.2).
    fileprivate var mayBeStale: Bool { !control.mustRevalidate && !control.noCache }

    /// Whether the response is fresh, or became stale less than `window` seconds ago.
    fileprivate func isStale(forAtMost window: Int64, at now: UnixTime) -> Bool {
        let freshness = freshness(at: now)
        return freshness > -.max && -freshness < window
    }
}

extension RequestBody {
    /// Whether the request has no body, or an empty one.
    fileprivate var isNothing: Bool { bytesInMemory?.isEmpty ?? false }
}

extension HTTPHeaders {
    /// Whether there is a field that a cache obeys.
    fileprivate var concernCaches: Bool {
        let names: [StaticString] = [
            "cache-control", "pragma", "range", "if-none-match", "if-modified-since",
        ]
        return names.contains { index(of: $0) != nil } || hasConditionsForServers
    }

    /// Whether there are conditions about the state of the server, which only the server can evaluate.
    fileprivate var hasConditionsForServers: Bool {
        index(of: "if-match") != nil || index(of: "if-unmodified-since") != nil
            || index(of: "if-range") != nil
    }
}
