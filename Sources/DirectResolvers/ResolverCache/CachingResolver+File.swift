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
        try await readFile()
        try await saves.save(to: path, on: loop) { [self] in AnswerFile.write(lines()) }
    }

    /// Reads the file unless that has been done. A file that cannot be read counts as empty, because a cache
    /// can be filled again.
    ///
    /// - Throws: `CancellationError` if the task was cancelled, `SystemError` if there is no thread; the
    ///   next caller reads the file. An answer that came before the file's would take their place.
    func readFile() async throws {
        guard let path = state.withLock({ $0.unread }) else { return }
        let text = try await threads.run(on: loop) { () throws(SystemError) in
            (try? StateFile.read(path, limit: Self.fileLimit)) ?? []
        }
        restore(text, at: now, date: loop.date)
    }

    /// Writes the file after a delay, together with all changes until then.
    func saveSoon() {
        guard settings.file != nil else { return }
        let isFirst = state.withLock { state in
            defer { state.isSaving = true }
            return !state.isSaving
        }
        guard isFirst else { return }
        Task { [weak self, loop] in
            try? await loop.sleep(until: loop.now.advanced(byNanoseconds: Self.savingDelay))
            guard let self else { return }
            state.withLock { $0.isSaving = false }
            try? await save()
        }
    }

    /// Adds the file's answers that may still be used, except for names with a newer answer.
    func restore(_ text: [UInt8], at now: Instant, date: UnixTime) {
        let lines = AnswerFile.read(text)
        let longest = settings.maximumTimeToLive.clampedNanoseconds
        state.withLock { state in
            guard state.unread != nil else { return }
            state.unread = nil
            for line in lines where state.table.entries[line.key] == nil {
                // If the file was written under another clock, the expiry may lie far ahead: no answer is
                // valid for longer than a new one would be.
                let left = line.expiry.seconds.subtractingReportingOverflow(date.seconds)
                guard !left.overflow else { continue }
                let expiry: Instant
                if left.partialValue >= 0 {
                    let span = min(Duration.seconds(left.partialValue).clampedNanoseconds, longest)
                    expiry = now.advanced(byNanoseconds: span)
                } else {
                    let past = Duration.seconds(Int64(clamping: left.partialValue.magnitude))
                        .clampedNanoseconds
                    guard past < state.table.rules.stale, past < now.nanoseconds else { continue }
                    expiry = Instant(nanoseconds: now.nanoseconds - past)
                }
                var answer = Resolution(
                    line.endpoints,
                    source: AddressSource(line.author),
                    canonicalName: line.canonicalName
                )
                answer.isStrictlyOrdered = line.isStrictlyOrdered
                let span = min(Duration.seconds(line.seconds).clampedNanoseconds, longest)
                state.restore(answer, for: line.key, expiry: expiry, span: span)
            }
        }
    }

    /// The answers to write to the file: the positive ones without HTTPS records. The keys in these change
    /// often, so they are asked for anew.
    private func lines() -> [AnswerFile.Line] {
        let table = state.withLock { $0.table }
        let (now, date) = (now, loop.date)
        var lines: [AnswerFile.Line] = []
        table.entries.forEach { name, port, entry in
            guard entry.kind == .addresses || entry.kind == .orderedAddresses,
                entry.https?.records.records.isEmpty ?? true
            else { return }
            let left = Int64(clamping: entry.expiry.nanoseconds) - Int64(clamping: now.nanoseconds)
            let (endpoints, canonicalName) = table.contents(of: entry)
            lines.append(
                AnswerFile.Line(
                    key: AnswerKey(
                        host: DomainName(checked: [UInt8](copying: name)),
                        port: UInt16(truncatingIfNeeded: port)
                    ),
                    expiry: date.advanced(bySeconds: left / 1_000_000_000),
                    seconds: Int64(entry.span / 1000),
                    endpoints: endpoints,
                    author: table.authors[Int(entry.author)],
                    canonicalName: canonicalName,
                    isStrictlyOrdered: entry.kind == .orderedAddresses
                )
            )
        }
        return lines
    }

    private static let savingDelay: UInt64 = 3_000_000_000
    private static let fileLimit = 64 * 1024 * 1024
}
