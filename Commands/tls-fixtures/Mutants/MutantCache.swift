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

        var tag: String? { response.values("etag").first?.latin1 }
    }

    typealias Sending = (MutantRequest) throws(MutantFault) -> MutantResponse

    private let mutation: Mutation?
    private var entries: [Entry] = []

    init(_ mutation: Mutation?) { self.mutation = mutation }

    /// Answers a request by what is kept, or has it sent.
    ///
    /// - Parameter clock: The time in milliseconds since 1970.
    mutating func answer(
        _ request: MutantRequest,
        clock: () -> Int64,
        send: Sending
    ) throws(MutantFault) -> MutantResponse {
        let now = clock()
        let found = index(for: request, at: now)
        guard request.method == "GET" else {
            let answers = mutation == .cacheAnswersPOST && request.method == "POST"
            if let found, answers || mutation == .cacheAnswersOtherMethods && request.method == "OPTIONS" {
                return given(entries[found], at: now, "hit")
            }
            var response = try send(request)
            invalidate(by: response, to: request)
            if mutation == .storesOtherMethods { store(response, to: request, sent: now, came: clock()) }
            if let found, mutation == .headsRenewDates, request.method == "HEAD" {
                var dates = response
                dates.fields.removeAll { $0.name.latin1.lowercased() != "date" }
                update(&entries[found], by: dates, sent: now, came: clock())
            }
            response.use = request.method == "HEAD" ? "miss" : "bypassed"
            return response
        }
        guard let found else { return try fetch(request, nil, clock: clock, send: send) }
        let isRange = request.fields.has("range")
        if !isRange, isUsable(entries[found], for: request, at: now) {
            if let response = conditional(request, entries[found]) { return response }
            return given(entries[found], at: now, "hit")
        }
        return try fetch(request, isRange ? nil : found, clock: clock, send: send)
    }

    /// Sends a request, with the validators of what is kept, and keeps what comes.
    private mutating func fetch(
        _ request: MutantRequest,
        _ found: Int?,
        clock: () -> Int64,
        send: Sending
    ) throws(MutantFault) -> MutantResponse {
        let sent = clock()
        var asked = request
        let isOwn = request.fields.contains { $0.name.latin1.lowercased().hasPrefix("if-") }
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
            if !confirms(response, entries[found]) {
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
        let modified = entry.response.values("last-modified").first?.latin1
        if mutation == .ifRangeWithWeakTags || mutation == .ifRangeWithDates {
            request.set("Range", to: "bytes=1-")
            request.set("If-Range", to: mutation == .ifRangeWithDates ? modified ?? "" : entry.tag ?? "")
            return
        }
        if mutation == .ifRangeWithoutRange { request.set("If-Range", to: entry.tag ?? "\"\"") }
        if let tag = entry.tag, mutation != .validatesByDates {
            let own = request.fields.values("if-none-match").map(\.latin1)
            request.set("If-None-Match", to: (own + [tag]).joined(separator: ", "))
        } else if let date = modified ?? entry.response.values("date").first?.latin1,
            modified != nil || mutation == .validatesByDates
        {
            let words = date.split { $0 == " " || $0 == "," }
            let other =
                words.count == 6 ? "\(words[0]) \(words[2]) \(words[1]) \(words[4]) \(words[3])" : date
            request.set("If-Modified-Since", to: mutation == .sendsOtherDates ? other : date)
        }
    }

    private func confirms(_ response: MutantResponse, _ entry: Entry) -> Bool {
        guard let tag = response.values("etag").first?.latin1, mutation != .updatesByAny304 else {
            return true
        }
        func weak(_ tag: String?) -> Substring? { tag.map { $0.hasPrefix("W/") ? $0.dropFirst(2) : $0[...] } }
        return weak(tag) == weak(entry.tag)
    }

    private func update(_ entry: inout Entry, by response: MutantResponse, sent: Int64, came: Int64) {
        (entry.sent, entry.came) = (sent, came)
        guard mutation != .ignores304Fields else { return }
        let owned = [
            "content-length", "content-encoding", "content-range", "connection", "transfer-encoding",
        ]
        let new = dated(response.fields, came).filter { !owned.contains($0.name.latin1.lowercased()) }
        let names = Set(new.map { $0.name.latin1.lowercased() })
        entry.response.fields.removeAll { names.contains($0.name.latin1.lowercased()) || Self.isAge($0) }
        entry.response.fields += new
    }

    // MARK: What is kept

    private mutating func store(
        _ response: MutantResponse,
        to request: MutantRequest,
        sent: Int64,
        came: Int64
    ) {
        let directives = directives(response.fields)
        let isKnown = [200, 203, 300, 301, 308, 404, 405, 410, 414, 501].contains(response.status)
        let isPart = response.status == 206 && (mutation == .storesParts || mutation == .partsBecomeWhole)
        guard isKnown || isPart || mutation == .storesAnyStatus else { return }
        let forbids = directives["no-store"] != nil || self.directives(request.fields)["no-store"] != nil
        guard !forbids || mutation == .ignoresNoStore else { return }
        var kept = response
        if mutation == .trailersBecomeFields { kept.fields += kept.trailers }
        if mutation == .partsBecomeWhole { kept.status = 200 }
        if mutation == .storesKnownFields {
            kept.fields.removeAll { $0.name.latin1.lowercased().hasPrefix("x-") }
        }
        let listed = response.elements("connection")
        let ofConnection = listed + ["connection", "keep-alive", "transfer-encoding", "te", "upgrade"]
        kept.fields = dated(kept.fields, came).filter { !ofConnection.contains($0.name.latin1.lowercased()) }
        kept.isIncomplete = false
        let key = key(request.url)
        let vary = response.elements("vary")
        let others = entries.filter {
            $0.key != key || $0.response.elements("vary") != vary || varies($0, from: request)
        }
        let entry = Entry(key: key, asked: request.fields, response: kept, sent: sent, came: came)
        entries = others + [entry]
    }

    private func key(_ url: HTTPURL) -> String {
        let text = url.withoutFragment.text
        return mutation == .ignoresQueries ? String(text.prefix { $0 != "?" }) : text
    }

    private func dated(_ fields: [MutantField], _ came: Int64) -> [MutantField] {
        guard !fields.has("date"), mutation != .withoutDate else { return fields }
        return fields + [(Array("Date".utf8), Array(HTTPDate.text(UnixTime(seconds: came / 1000)).utf8))]
    }

    private func varies(_ entry: Entry, from request: MutantRequest) -> Bool {
        let names = entry.response.elements("vary")
        if mutation == .ignoresVary { return false }
        return names.contains("*")
            || !names.allSatisfy { entry.asked.values($0) == request.fields.values($0) }
    }

    /// The newest of the responses that fit.
    private func index(for request: MutantRequest, at now: Int64) -> Int? {
        let key = key(request.url)
        let fitting = entries.indices.filter { entries[$0].key == key && !varies(entries[$0], from: request) }
        if mutation == .usesOldest { return fitting.first }
        return fitting.last { index in
            fitting.allSatisfy { date(of: entries[$0]) <= date(of: entries[index]) }
        }
    }

    private mutating func invalidate(by response: MutantResponse, to request: MutantRequest) {
        guard (200..<400).contains(response.status), mutation != .neverInvalidates,
            !["GET", "HEAD", "OPTIONS", "TRACE"].contains(request.method),
            mutation != .invalidatesByKnownMethods
                || ["POST", "PUT", "DELETE", "PATCH"].contains(request.method)
        else { return }
        var urls = [request.url]
        for name in ["location", "content-location"] {
            if let text = response.values(name).first?.latin1, let url = try? request.url.resolving(text),
                url.origin == request.url.origin
            {
                urls.append(url)
            }
        }
        let keys = Set(urls.map { key($0) })
        entries.removeAll { keys.contains($0.key) }
    }

    /// Puts a part into what is kept, which only a mutant does.
    private mutating func combine(_ part: MutantResponse, with request: MutantRequest, at now: Int64) {
        let isOfBytes = part.values("content-range").first?.starts(with: "bytes".utf8) ?? true
        guard mutation == (isOfBytes ? .combinesBadRanges : .combinesUnknownUnits),
            let index = index(for: request, at: now)
        else { return }
        update(&entries[index], by: part, sent: now, came: now)
        entries[index].response.content = part.content + entries[index].response.content.dropFirst(2)
    }

    // MARK: What may be used

    private func isUsable(_ entry: Entry, for request: MutantRequest, at now: Int64) -> Bool {
        let directives = directives(entry.response.fields)
        let asked = self.directives(request.fields)
        guard asked["no-cache"] == nil else { return false }
        guard directives["no-cache"] == nil || mutation == .ignoresNoCache else { return false }
        if mutation == .usesStale { return true }
        if mutation == .staleDespiteMustRevalidate, directives["must-revalidate"] != nil { return true }
        return lifetime(of: entry, directives) > age(of: entry, at: now)
    }

    /// An answer to the caller's own conditions, which only a mutant gives.
    private func conditional(_ request: MutantRequest, _ entry: Entry) -> MutantResponse? {
        var response = MutantResponse()
        response.version = entry.response.version
        response.fields = entry.response.fields
        response.use = "hit"
        if mutation == .evaluatesIfMatch, let tag = request.fields.values("if-match").first?.latin1 {
            response.status = 412
            return tag == entry.tag ? nil : response
        }
        response.status = 304
        guard let text = request.fields.values("if-modified-since").first?.latin1 else { return nil }
        let isDate = text.cookieDate != nil && text.split(separator: ",").count <= 2
        if mutation == .takesAnyModifiedSince, !isDate { return response }
        return mutation == .modifiedSinceFirst && request.fields.has("if-none-match") ? response : nil
    }

    private func lifetime(of entry: Entry, _ directives: [String: String]) -> Int64 {
        let fields = entry.response.fields
        let expires = fields.values("expires").first?.latin1
        if mutation == .guessesBesideExpires, let text = fields.values("last-modified").first?.latin1,
            let modified = date(text)
        {
            return (date(of: entry) - modified) / 10
        }
        if let text = directives["max-age"], mutation != .expiresFirst || expires == nil {
            return seconds(text)
        }
        guard let expires else { return 0 }
        guard let end = date(expires) else { return mutation == .takesBadDatesAsLate ? 1 << 40 : 0 }
        return end - date(of: entry)
    }

    private func age(of entry: Entry, at now: Int64) -> Int64 {
        let value = entry.response.values("age").first.map { seconds($0.latin1) } ?? 0
        let delay = mutation == .agesFromArrival ? 0 : entry.came - entry.sent
        return max(value + delay, entry.came - date(of: entry), 0) + now - entry.came
    }

    /// The milliseconds of a number of seconds. What is too large is very long.
    private func seconds(_ text: String) -> Int64 {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return 0 }
        let largest: Int64 = mutation == .forgetsLargeNumbers ? 0 : 1 << 31
        return (Int64(text).map { min($0, 1 << 31) } ?? largest) * 1000
    }

    private func date(of entry: Entry) -> Int64 {
        entry.response.values("date").first.flatMap { date($0.latin1) } ?? entry.came
    }

    private func date(_ text: String) -> Int64? {
        if mutation == .readsOneDateForm, !text.isIMFDate { return nil }
        let isShort = text.split(separator: "-").count == 3
        let zone: Int64 = mutation == .readsDatesAsLocal ? 9 * 3600 : 0
        let century: Int64 = mutation == .twoDigitYearsAhead && isShort ? 36525 * 86400 : 0
        return text.cookieDate.map { ($0 + century + zone) * 1000 }
    }

    /// The response as it is given to the caller.
    private func given(_ entry: Entry, at now: Int64, _ use: String) -> MutantResponse {
        var response = entry.response
        response.use = use
        if mutation == .keepsOldAge, response.fields.has("age") || mutation == .withoutAge { return response }
        response.fields.removeAll(where: Self.isAge)
        guard mutation != .withoutAge else { return response }
        response.fields.append((Array("Age".utf8), Array("\(age(of: entry, at: now) / 1000)".utf8)))
        return response
    }

    private static func isAge(_ field: MutantField) -> Bool { field.name.latin1.lowercased() == "age" }

    /// The directives of Cache-Control by their names.
    private func directives(_ fields: [MutantField]) -> [String: String] {
        let text = fields.values("cache-control").map(\.latin1).joined(separator: ",")
        var (parts, isQuoted) = ([""], false)
        for character in text {
            if character == "\"" { isQuoted.toggle() }
            if character == ",", !isQuoted {
                parts.append("")
            } else {
                parts[parts.count - 1].append(character)
            }
        }
        var found: [String: String] = [:]
        for part in parts {
            let words = part.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " && $0 != "\t" } }
            guard var name = words.first else { continue }
            if mutation != .exactDirectives { name = name.lowercased() }
            if mutation == .takesPartsOfDirectives, name.contains("max-age") { name = "max-age" }
            if found[name] == nil { found[name] = words.count > 1 ? words[1].filter { $0 != "\"" } : "" }
        }
        return found
    }
}
