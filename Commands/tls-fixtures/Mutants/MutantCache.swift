internal import DirectCore

/// The mutant client's cache of one user (RFC 9111). It guesses no lifetimes, and uses nothing that is stale.
struct MutantCache {
    /// A response that is kept. Times are milliseconds since 1970.
    private struct Entry {
        var key: String
        /// The fields of the request that it answered.
        var asked: [MutantField]
        var response: MutantResponse
        var sent: Int64
        var came: Int64

        func value(_ name: String) -> String? { response.fields.value(name) }
    }

    private let mutation: Mutation?
    private var entries: [Entry] = []

    init(_ mutation: Mutation?) { self.mutation = mutation }

    /// Answers a request by what is kept, or has it sent.
    ///
    /// - Parameter clock: The time in milliseconds since 1970.
    mutating func answer(
        _ request: MutantRequest,
        clock: () -> Int64,
        send: (MutantRequest) throws(MutantFault) -> MutantResponse
    ) throws(MutantFault) -> MutantResponse {
        let now = clock()
        let found = index(for: request, at: now)
        let answers =
            mutation == .cacheAnswersPOST && request.method == "POST"
            || mutation == .cacheAnswersOtherMethods && request.method == "OPTIONS"
        if request.method == "GET" || answers, let found, !request.fields.has("range"),
            answers || isUsable(entries[found], for: request, at: now)
        {
            return conditional(request, entries[found]) ?? given(entries[found], at: now, "hit")
        }
        if request.method == "GET" {
            let isRange = request.fields.has("range")
            return try fetch(request, isRange ? nil : found, clock: clock, send: send)
        }
        var response = try send(request)
        invalidate(by: response, to: request)
        if mutation == .storesOtherMethods { store(response, to: request, sent: now, came: clock()) }
        if let found, request.method == "HEAD", differs(response, from: entries[found]) {
            entries.remove(at: found)
        } else if let found, mutation == .headsRenewDates, request.method == "HEAD" {
            var dates = response
            dates.fields.removeAll { $0.key != "date" }
            update(&entries[found], by: dates, sent: now, came: clock())
        }
        response.use = request.method == "HEAD" ? "miss" : "bypassed"
        return response
    }

    /// Sends a request, with the validators of what is kept, and keeps what comes.
    private mutating func fetch(
        _ request: MutantRequest,
        _ found: Int?,
        clock: () -> Int64,
        send: (MutantRequest) throws(MutantFault) -> MutantResponse
    ) throws(MutantFault) -> MutantResponse {
        let sent = clock()
        var asked = request
        let isOwn = request.fields.contains { $0.key.hasPrefix("if-") }
        if let found, !isOwn || mutation == .passes304 { addCondition(to: &asked, entries[found]) }
        var response: MutantResponse
        do throws(MutantFault) {
            response = try send(asked)
        } catch {
            guard let found, mutation == .staleWhenUnreachable else { throw error }
            return given(entries[found], at: sent, "stale")
        }
        let came = clock()
        if response.status == 304, let found, !isOwn {
            guard confirms(response, entries[found]) else {
                return try fetch(request, nil, clock: clock, send: send)
            }
            update(&entries[found], by: response, sent: sent, came: came)
            return given(entries[found], at: came, "revalidated")
        }
        if response.status == 206 { combine(response, with: request, at: came) }
        if let found, mutation == .keepsOldDespite200 {
            (entries[found].sent, entries[found].came) = (sent, came)
            return given(entries[found], at: came, "miss")
        }
        store(response, to: request, sent: sent, came: came)
        response.use = "miss"
        return response
    }

    private func addCondition(to request: inout MutantRequest, _ entry: Entry) {
        let (modified, tag) = (entry.value("last-modified"), entry.value("etag"))
        if mutation == .ifRangeWithWeakTags || mutation == .ifRangeWithDates {
            request.set("Range", to: "bytes=1-")
            request.set("If-Range", to: mutation == .ifRangeWithDates ? modified ?? "" : tag ?? "")
            return
        }
        if mutation == .ifRangeWithoutRange { request.set("If-Range", to: tag ?? "\"\"") }
        if let tag, mutation != .validatesByDates {
            let own = request.fields.values("if-none-match")
            request.set("If-None-Match", to: (own + [tag]).joined(separator: ", "))
        }
        let forced = mutation == .validatesByDates ? entry.value("date") : nil
        guard let date = modified ?? forced else { return }
        let words = date.split { $0 == " " || $0 == "," }
        let isOther = mutation == .sendsOtherDates && words.count == 6
        let other = isOther ? [0, 2, 1, 4, 3].map { words[$0] }.joined(separator: " ") : date
        request.set("If-Modified-Since", to: other)
    }

    private func confirms(_ response: MutantResponse, _ entry: Entry) -> Bool {
        guard let tag = response.fields.value("etag"), mutation != .updatesByAny304 else { return true }
        return tag.isWeakly(entry.value("etag"))
    }

    private func differs(_ response: MutantResponse, from entry: Entry) -> Bool {
        ["etag", "content-length"].contains { name in
            response.fields.value(name).map { $0 != entry.value(name) } ?? false
        }
    }

    private func update(_ entry: inout Entry, by response: MutantResponse, sent: Int64, came: Int64) {
        (entry.sent, entry.came) = (sent, came)
        guard mutation != .ignores304Fields else { return }
        let new = dated(response.fields, came).without([
            "content-length", "content-encoding", "content-range", "connection", "transfer-encoding",
        ])
        entry.response.fields = entry.response.fields.without(new.map(\.key) + ["age"]) + new
    }

    // MARK: What is kept

    private mutating func store(
        _ response: MutantResponse,
        to request: MutantRequest,
        sent: Int64,
        came: Int64
    ) {
        let isKnown = [200, 203, 300, 301, 308, 404, 405, 410, 414, 501].contains(response.status)
        let isPart = response.status == 206 && (mutation == .storesParts || mutation == .partsBecomeWhole)
        guard isKnown || isPart || mutation == .storesAnyStatus else { return }
        let forbids = [response.fields, request.fields].contains { directives($0)["no-store"] != nil }
        guard !forbids || mutation == .ignoresNoStore else { return }
        var kept = response
        if mutation == .trailersBecomeFields { kept.fields += kept.trailers }
        if mutation == .partsBecomeWhole { kept.status = 200 }
        if mutation == .storesKnownFields { kept.fields.removeAll { $0.key.hasPrefix("x-") } }
        kept.fields = dated(kept.fields, came).without(
            response.fields.elements("connection")
                + ["connection", "keep-alive", "transfer-encoding", "te", "upgrade"]
        )
        kept.isIncomplete = false
        let (key, vary) = (key(request.url), response.fields.elements("vary"))
        let others = entries.filter {
            $0.key != key || $0.response.fields.elements("vary") != vary || varies($0, from: request)
        }
        entries = others + [Entry(key: key, asked: request.fields, response: kept, sent: sent, came: came)]
    }

    private func key(_ url: HTTPURL) -> String {
        let text = url.withoutFragment.text
        return mutation == .ignoresQueries ? String(text.prefix { $0 != "?" }) : text
    }

    private func dated(_ fields: [MutantField], _ came: Int64) -> [MutantField] {
        guard !fields.has("date"), mutation != .withoutDate else { return fields }
        return fields + [MutantField("Date", HTTPDate.text(UnixTime(seconds: came / 1000)))]
    }

    private func varies(_ entry: Entry, from request: MutantRequest) -> Bool {
        let names = mutation == .ignoresVary ? [] : entry.response.fields.elements("vary")
        return !names.allSatisfy { $0 != "*" && entry.asked.values($0) == request.fields.values($0) }
    }

    /// The newest of the responses that fit.
    private func index(for request: MutantRequest, at now: Int64) -> Int? {
        let key = key(request.url)
        let fitting = entries.indices.filter { entries[$0].key == key && !varies(entries[$0], from: request) }
        if mutation == .usesOldest { return fitting.first }
        let newest = fitting.map { date(of: entries[$0]) }.max()
        return fitting.last { date(of: entries[$0]) == newest }
    }

    private mutating func invalidate(by response: MutantResponse, to request: MutantRequest) {
        let isKnown = ["POST", "PUT", "DELETE", "PATCH"].contains(request.method)
        guard (200..<400).contains(response.status), mutation != .neverInvalidates,
            !["GET", "HEAD", "OPTIONS", "TRACE"].contains(request.method),
            isKnown || mutation != .invalidatesByKnownMethods
        else { return }
        let named = ["location", "content-location"].compactMap { response.fields.value($0) }
            .compactMap { try? request.url.resolving($0) }
            .filter { $0.origin == request.url.origin || mutation == .invalidatesAnyOrigin }
        let keys = ([request.url] + named).map { key($0) }
        entries.removeAll { keys.contains($0.key) }
    }

    /// Puts a part into what is kept, which only a mutant does.
    private mutating func combine(_ part: MutantResponse, with request: MutantRequest, at now: Int64) {
        let isOfBytes = part.fields.value("content-range")?.hasPrefix("bytes") ?? true
        guard mutation == (isOfBytes ? .combinesBadRanges : .combinesUnknownUnits),
            let index = index(for: request, at: now)
        else { return }
        update(&entries[index], by: part, sent: now, came: now)
        entries[index].response.content = part.content + entries[index].response.content.dropFirst(2)
    }

    // MARK: What may be used

    private func isUsable(_ entry: Entry, for request: MutantRequest, at now: Int64) -> Bool {
        let directives = directives(entry.response.fields)
        let isForbidden = directives["no-cache"] != nil && mutation != .ignoresNoCache
        guard self.directives(request.fields)["no-cache"] == nil, !isForbidden else { return false }
        let isForced = mutation == .staleDespiteMustRevalidate && directives["must-revalidate"] != nil
        return mutation == .usesStale || isForced
            || lifetime(of: entry, directives) > age(of: entry, at: now)
    }

    /// An answer to the caller's own conditions. `nil`: they do not hold, or there are none.
    private func conditional(_ request: MutantRequest, _ entry: Entry) -> MutantResponse? {
        var response = MutantResponse(version: entry.response.version)
        response.fields = entry.response.fields.without(["content-length"])
        response.use = "hit"
        if mutation == .evaluatesIfMatch, let tag = request.fields.value("if-match") {
            response.status = 412
            return tag == entry.value("etag") ? nil : response
        }
        response.status = 304
        let tags = request.fields.values("if-none-match").flatMap { $0.splitOutsideQuotes(",") }
        guard tags.isEmpty || mutation == .modifiedSinceFirst else {
            let holds = tags.contains {
                $0.withoutBlanks == "*" || $0.withoutBlanks.isWeakly(entry.value("etag"))
            }
            return holds ? response : nil
        }
        guard let text = request.fields.value("if-modified-since") else { return nil }
        let since = text.split(separator: ",").count <= 2 ? date(text) : nil
        let modified = entry.value("last-modified").flatMap(date) ?? date(of: entry)
        let holds = since.map { modified <= $0 } ?? (mutation == .takesAnyModifiedSince)
        return holds ? response : nil
    }

    private func lifetime(of entry: Entry, _ directives: [String: String]) -> Int64 {
        if mutation == .guessesBesideExpires, let modified = entry.value("last-modified").flatMap(date) {
            return (date(of: entry) - modified) / 10
        }
        let expires = entry.value("expires")
        if let text = directives["max-age"], mutation != .expiresFirst || expires == nil {
            return seconds(text)
        }
        guard let expires else { return 0 }
        return date(expires).map { $0 - date(of: entry) } ?? (mutation == .takesBadDatesAsLate ? 1 << 40 : 0)
    }

    private func age(of entry: Entry, at now: Int64) -> Int64 {
        let delay = mutation == .agesFromArrival ? 0 : entry.came - entry.sent
        let corrected = (entry.response.fields.elements("age").first.map(seconds) ?? 0) + delay
        return max(corrected, entry.came - date(of: entry), 0) + now - entry.came
    }

    /// The milliseconds of a number of seconds. What is too large is very long.
    private func seconds(_ text: String) -> Int64 {
        guard text.isDigits else { return 0 }
        let largest: Int64 = mutation == .forgetsLargeNumbers ? 0 : 1 << 31
        return (Int64(text).map { min($0, 1 << 31) } ?? largest) * 1000
    }

    private func date(of entry: Entry) -> Int64 { entry.value("date").flatMap(date) ?? entry.came }

    private func date(_ text: String) -> Int64? {
        let isKnown =
            mutation == .readsOneDateForm
            ? text.isIMFDate : text.uppercased().hasSuffix("GMT") || text.suffix(4).isDigits
        guard isKnown else { return nil }
        let isShort = text.split(separator: "-").count == 3
        let zone: Int64 = mutation == .readsDatesAsLocal ? 9 * 3600 : 0
        let century: Int64 = mutation == .twoDigitYearsAhead && isShort ? 36525 * 86400 : 0
        return text.cookieDate.map { ($0 + century + zone) * 1000 }
    }

    /// The response as it is given to the caller.
    private func given(_ entry: Entry, at now: Int64, _ use: String) -> MutantResponse {
        var response = entry.response
        response.use = use
        if mutation == .keepsOldAge, response.fields.has("age") { return response }
        let age = MutantField("Age", "\(age(of: entry, at: now) / 1000)")
        response.fields = response.fields.without(["age"]) + (mutation == .withoutAge ? [] : [age])
        return response
    }

    /// The directives of Cache-Control by their names.
    private func directives(_ fields: [MutantField]) -> [String: String] {
        var found: [String: String] = [:]
        for part in fields.values("cache-control").joined(separator: ",").splitOutsideQuotes(",") {
            var (name, value) = part.nameAndValue
            if mutation != .exactDirectives { name = name.lowercased() }
            if mutation == .takesPartsOfDirectives, name.contains("max-age") { name = "max-age" }
            if found[name] == nil { found[name] = value?.filter { $0 != "\"" } ?? "" }
        }
        return found
    }
}

extension String {
    /// Whether two entity tags are equal by weak comparison.
    fileprivate func isWeakly(_ other: String?) -> Bool {
        func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
        return other.map { opaque(self) == opaque($0) } ?? false
    }
}
