internal import DirectCore
internal import DirectHTTP
internal import DirectIO

extension CachingResolver {
    /// Writes the answers to the settings' file now. Has no effect without such a file.
    ///
    /// - Throws: A `SystemError` if the file cannot be written, `CancellationError` if the task was
    ///   cancelled.
    public func save() async throws {
        guard let path = settings.file else { return }
        try await readFile(ResolveContext(.https, deadline: .never, loop: loop))
        try await saves.save(to: path, on: loop) { [self] in AnswerFile.write(lines()) }
    }

    /// Waits until the file has been read. The first caller starts that, on a thread that may block, and all
    /// that come before its end wait for the same reading, each within its own deadline.
    ///
    /// A file that cannot be read counts as empty, because a cache can be filled again; so does one whose
    /// disk takes longer than ``readingLimit``.
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
                text = try StateFile.read(path, limit: Self.fileLimit)
            } catch {
                // The file is whole. Taken as empty, it would soon be replaced by what is in memory.
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
            try? await save()
        }
    }

    /// Fills the table with the file's answers that may still be used. Blocks: a large file takes its time,
    /// which is spent outside the lock.
    func restore(_ text: [UInt8], date: UnixTime) {
        var table = AnswerTable(state.withLock { $0.table.rules })
        let longest = settings.maximumTimeToLive.clampedNanoseconds
        let now = now
        for line in AnswerFile.read(text) where table.entries[line.key] == nil {
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
        endReading { $0.adopt(table) }
    }

    /// The answers to write to the file: the positive ones that may still be used, without HTTPS records. The
    /// keys in these change often, so they are asked for anew.
    ///
    /// When a quarter of the table may not be used any more, that leaves the table as well.
    private func lines() -> [AnswerFile.Line] {
        let table = state.withLock { $0.table }
        let (now, date) = (now, loop.date)
        var lines: [AnswerFile.Line] = []
        var deadCount = 0
        table.entries.forEach { name, tag, entry in
            guard !table.rules.isDead(entry, at: now) else { return deadCount += 1 }
            guard entry.isPositive, !entry.lacks.contains(.family),
                entry.https?.records.records.isEmpty ?? true
            else { return }
            let left = Int64(clamping: entry.expiry.nanoseconds) - Int64(clamping: now.nanoseconds)
            let (endpoints, canonicalName) = table.contents(of: entry)
            lines.append(
                AnswerFile.Line(
                    key: AnswerKey(host: DomainName(checked: [UInt8](copying: name)), tag: tag),
                    expiry: date.advanced(bySeconds: left / 1_000_000_000),
                    seconds: Int64(entry.span / 1000),
                    endpoints: endpoints,
                    author: table.authors[Int(entry.author)],
                    canonicalName: canonicalName,
                    isStrictlyOrdered: entry.kind == .orderedAddresses
                )
            )
        }
        if deadCount > table.entries.count / 4 { state.withLock { $0.forgetDead(at: now) } }
        return lines
    }

    private static let savingDelay: UInt64 = 3_000_000_000
    /// The time after which the answers are asked for without the file, in nanoseconds: half of what a name
    /// may take by default.
    private static let readingLimit: UInt64 = 5_000_000_000
    private static let fileLimit = 64 * 1024 * 1024
}
