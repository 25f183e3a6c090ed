internal import DirectCore
internal import DirectHTTP
internal import DirectIO

extension CachingResolver {
    /// Writes the answers to the settings' file now, and drops from it what may not be used any more. Has no
    /// effect without such a file.
    ///
    /// - Throws: A `SystemError` if the file cannot be written, or is not within half a minute,
    ///   `CancellationError` if the task was cancelled.
    public func save() async throws { try await save(isWhole: true) }

    /// - Parameter isWhole: Whether what may not be used any more leaves the file now.
    func save(isWhole: Bool) async throws {
        guard let path = settings.file else { return }
        try await saves.save(to: path, on: loop, by: threads) { [self] () throws(SystemError) in
            try write(path, isWhole: isWhole)
        }
    }

    /// Waits until the file has been read. The first caller starts that, on a thread that may block, and all
    /// that come before its end wait for the same reading, each within its own deadline.
    ///
    /// A file that cannot be read counts as empty, because a cache can be filled again; so does one whose
    /// disk takes longer than ``readingLimit``. It stays as it is: no file is replaced that was not read.
    ///
    /// - Throws: `CancellationError` if the task was cancelled, a ``ResolverError`` at the deadline, and
    ///   `SystemError` if there is no thread or no descriptor; the next caller reads the file. An answer that
    ///   came before the file's would take their place.
    func readFile(_ context: ResolveContext) async throws {
        guard state.withLock({ $0.unread != nil }) else { return }
        if Task.isCancelled { throw CancellationError() }
        let start = context.loop.now
        let reply = Reply<SystemError?>(on: context.loop)
        guard let end = joinReading(reply) else { return }
        let rest = end.nanoseconds - min(now, end).nanoseconds
        let last = start.advanced(byNanoseconds: rest)
        let refusal: SystemError?
        do throws(BlockingWork.Abandoned) {
            refusal = try await reply.value(until: min(context.deadline, last))
        } catch {
            if error == .cancelled { throw CancellationError() }
            // Not by the cache's clock: the loops read theirs at different moments.
            guard context.deadline < last else { return endReading() }
            throw ResolverError(name, .timedOut(after: context.loop.now.since(start)))
        }
        if let refusal { throw refusal }
    }

    /// Adds a caller to those that wait for the file, and starts the reading if no other has. Returns the
    /// time at which it is given up; `nil` if it is over.
    private func joinReading(_ reply: Reply<SystemError?>) -> Instant? {
        let now = now
        let (end, path) = state.withLock { state -> (Instant?, String?) in
            switch state.unread {
            case nil: return (nil, nil)
            case .untouched(let path):
                let end = now.advanced(byNanoseconds: Self.readingLimit)
                state.unread = .reading(path, until: end, [reply])
                return (end, path)
            case .reading(let path, let end, var waiting):
                // Without this, each caller would copy the list.
                state.unread = nil
                waiting.append(reply)
                state.unread = .reading(path, until: end, waiting)
                return (end, nil)
            }
        }
        guard let path else { return end }
        threads.submit { [self] in
            var text: [UInt8]?
            do throws(SystemError) {
                text = try StateFile.readLines(path, heading: AnswerFile.heading, limit: Self.fileLimit)
            } catch {
                if error.isDescriptorShortage {
                    return endReading(refusal: error) { $0.unread = .untouched(path) }
                }
            }
            restore(text ?? [], date: loop.date)
        } orElse: { [self] refusal in
            endReading(refusal: refusal) { $0.unread = .untouched(path) }
        }
        return end
    }

    /// Ends the reading with a change of the state, unless it has ended, and wakes all that wait for it.
    private func endReading(refusal: SystemError? = nil, _ change: (inout Contents) -> Void = { _ in }) {
        let waiting = state.withLock { state -> [Reply<SystemError?>] in
            guard state.unread != nil else { return [] }
            defer { change(&state) }
            return state.endReading()
        }
        for reply in waiting { reply.give(refusal) }
    }

    /// Writes the file after a delay, together with all changes until then.
    func saveSoon() {
        guard settings.file != nil else { return }
        let isFirst = state.withLock { state in
            defer { state.isSaving = true }
            return !state.isSaving
        }
        guard isFirst else { return }
        Task(executorPreference: loop) { [weak self, loop] in
            try? await loop.sleep(until: loop.now.advanced(byNanoseconds: Self.savingDelay))
            guard let self else { return }
            state.withLock { $0.isSaving = false }
            try? await save(isWhole: false)
        }
    }

    /// Fills the table with the file's answers that may still be used. Blocks: a large file takes its time,
    /// which is spent outside the lock.
    func restore(_ text: [UInt8], date: UnixTime) {
        var table = AnswerTable(state.withLock { $0.table.rules })
        let longest = settings.maximumTimeToLive.clampedNanoseconds
        let now = now
        let lines = AnswerFile.read(text)
        for line in lines where isOwn(line) {
            // If the file was written under another clock, the expiry may lie far ahead: no answer is valid
            // for longer than it was when it came.
            let span = min(Duration.seconds(line.seconds).clampedNanoseconds, longest)
            let left = line.expiry.seconds.subtractingReportingOverflow(date.seconds)
            guard !left.overflow else { continue }
            let expiry: Instant
            if left.partialValue >= 0 {
                let left = Duration.seconds(left.partialValue).clampedNanoseconds
                expiry = now.advanced(byNanoseconds: min(left, span))
            } else {
                let past = Duration.seconds(Int64(clamping: left.partialValue.magnitude))
                    .clampedNanoseconds
                guard past < table.rules.stale, past < now.nanoseconds else { continue }
                expiry = Instant(nanoseconds: now.nanoseconds - past)
            }
            var answer = Resolution(
                line.endpoints,
                source: AddressSource(line.author),
                canonicalName: line.canonicalName
            )
            answer.isStrictlyOrdered = line.isStrictlyOrdered
            table.restore(answer, for: line.key, expiry: expiry, span: span)
        }
        // No answer is in the table before the file's are: none is asked for until then.
        endReading { state in
            state.liveSize = text.count / max(1, lines.count) * table.entries.count
            state.adopt(table)
        }
    }

    /// Whether an answer of the file is one that the resolver might give.
    private func isOwn(_ line: AnswerFile.Line) -> Bool {
        (line.policy ?? policy) == policy && (line.author != .system || upstream.mayAskSystem)
    }

    private var policy: UInt32 { Array(upstream.name.utf8).withSpan(AnswerFile.checksum) }

    /// Appends what is new to the file, or replaces the file by what counts of it together with what is new.
    /// Blocks.
    private func write(_ path: String, isWhole: Bool) throws(SystemError) {
        let (news, table, live) = state.withLock { ($0.takeNews(), $0.table, $0.liveSize) }
        do throws(SystemError) {
            let (heading, limit) = (AnswerFile.heading, Self.fileLimit)
            var text = AnswerFile.text(of: news.keys.compactMap { line($0, of: table) })
            if !isWhole, !news.forgetsAll,
                let size = try StateFile.append(text, to: path, heading: heading, limit: limit)
            {
                // Replaced lines may take as much of the file as those that count.
                if size <= max(Self.smallFile, 2 * live) { return }
                text = []
            }
            let size = try StateFile.rewrite(
                path,
                heading: heading,
                limit: limit,
                orAppend: news.forgetsAll ? nil : text
            ) { old in
                let known = news.forgetsAll ? [] : AnswerFile.read(old)
                return AnswerFile.text(of: lines(of: table, news: news, with: known))
            }
            // Otherwise another process does it.
            guard let size else { return }
            let now = now
            state.withLock { state in
                state.liveSize = size
                state.forgetDead(at: now)
            }
        } catch {
            state.withLock { $0.takeBack(news) }
            throw error
        }
    }

    /// The answers that are to be in the file: of those that it had those that may still be used, and those
    /// of the table that are new, or that it has lost.
    private func lines(of table: AnswerTable, news: FileNews, with known: [AnswerFile.Line])
        -> [AnswerFile.Line]
    {
        let (date, stale) = (loop.date, Int64(clamping: table.rules.stale / 1_000_000_000))
        var new = news.keys.compactMap { line($0, of: table) }
        var keys = Set(new.map(\.key))
        let alive = known.filter { !keys.contains($0.key) && $0.expiry.advanced(bySeconds: stale) > date }
        keys.formUnion(alive.map(\.key))
        table.entries.forEach { name, tag, _ in
            let key = AnswerKey(host: DomainName(checked: [UInt8](copying: name)), tag: tag)
            if !keys.contains(key), let line = line(key, of: table) { new.append(line) }
        }
        new.removeAll { $0.endpoints.isEmpty }
        return alive.suffix(max(0, table.rules.capacity - new.count)) + new
    }

    /// The line for a name: its answer if it has addresses that may still be used, or else that there is none
    /// any more; `nil` if the answer lacks a family. One with HTTPS records counts as none: the keys in these
    /// change often, so they are asked for anew.
    private func line(_ key: AnswerKey, of table: AnswerTable) -> AnswerFile.Line? {
        var line = AnswerFile.Line(key: key, expiry: loop.date, seconds: 0, endpoints: [], author: .system)
        let now = now
        guard let entry = table.entries[key], let author = entry.author else { return line }
        let hasRecords = entry.https?.records.records.isEmpty == false
        if entry.lacks.contains(.family) { return nil }
        if table.rules.isDead(entry, at: now) || hasRecords { return line }
        let left = Int64(clamping: entry.expiry.nanoseconds) - Int64(clamping: now.nanoseconds)
        (line.endpoints, line.canonicalName) = table.contents(of: entry)
        line.expiry = loop.date.advanced(bySeconds: left / 1_000_000_000)
        (line.seconds, line.author, line.policy) = (Int64(entry.span / 1000), author, policy)
        line.isStrictlyOrdered = entry.kind == .orderedAddresses
        return line
    }

    private static let savingDelay: UInt64 = 3_000_000_000
    /// The time after which the answers are asked for without the file, in nanoseconds: half of what a name
    /// may take by default.
    private static let readingLimit: UInt64 = 5_000_000_000
    private static let fileLimit = 64 * 1024 * 1024
    /// The size up to which nothing is dropped from the file while the program runs.
    private static let smallFile = 64 * 1024
}
