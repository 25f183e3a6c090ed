public import DirectCore
internal import DirectHTTP
internal import DirectIO

extension CachingResolver {
    /// Resolves these names now, so that later requests find the answers in the cache. Names whose answers
    /// are valid are not asked for. A service that can be asked for several names at a time is asked so.
    ///
    /// The names are asked for sixteen at a time, each sixteen within ``Settings/queryTimeout``. Each answer
    /// is kept as soon as it has come: a name that is not answered in time does not cost the others theirs.
    ///
    /// - Parameters:
    ///   - names: The names to resolve.
    ///   - port: The port to ask for, if the resolver's answers depend on it.
    ///   - scheme: The scheme to ask for, if the answers depend on it; `nil` for `http` at port 80, and
    ///     `https` at others.
    /// - Returns: The errors of the names that could not be resolved.
    @discardableResult
    public func warmUp(
        _ names: some Sequence<DomainName>,
        port: UInt16 = 443,
        scheme: HTTPURL.Scheme? = nil
    ) async -> [DomainName: any Error] {
        let (names, scheme) = (Set(names), scheme ?? (port == 80 ? .http : .https))
        do {
            try await readFile(ResolveContext(scheme, deadline: .never, loop: loop))
        } catch {
            return Dictionary(uniqueKeysWithValues: names.map { ($0, error) })
        }
        var failures: [DomainName: any Error] = [:]
        let missing = missing(names, port: port, scheme, failures: &failures)
        for start in stride(from: 0, to: missing.count, by: Self.manyAtATime) {
            let some = Array(missing[start..<min(start + Self.manyAtATime, missing.count)])
            failures.merge(await fill(some, port: port, scheme)) { first, _ in first }
        }
        return failures
    }

    /// Asks for these names, keeps each answer as it comes, and returns the failures.
    private func fill(
        _ names: [DomainName],
        port: UInt16,
        _ scheme: HTTPURL.Scheme
    ) async -> [DomainName: any Error] {
        let generation = generation
        let failures = Locked<[DomainName: any Error]>([:])
        let open = Locked(Set(names))
        do throws(CancellationError) {
            let context = ResolveContext(scheme, within: settings.queryTimeout, on: loop)
            try await upstream.answers(to: names, port: port, within: context) { [self] host, answer in
                open.withLock { _ = $0.remove(host) }
                keep(answer.mapError { $0 }, for: key(host, port: port, context), of: generation)
                if case .failure(let error) = answer { failures.withLock { $0[host] = error } }
            }
        } catch {
            for host in open.withLock({ $0 }) { failures.withLock { $0[host] = error } }
        }
        return failures.withLock { $0 }
    }

    private static let manyAtATime = 16

    /// Returns the names that have to be asked for: neither the table nor the resolver has an answer at hand.
    /// Adds the errors of those with a negative answer to `failures`.
    private func missing(
        _ names: Set<DomainName>,
        port: UInt16,
        _ scheme: HTTPURL.Scheme,
        failures: inout [DomainName: any Error]
    ) -> [DomainName] {
        let context = ResolveContext(scheme, within: settings.queryTimeout, on: loop)
        var missing: [DomainName] = []
        for name in names.sorted(by: { $0.text < $1.text }) {
            do throws(ResolverError) {
                if try knownAnswer(for: name, port: port, context: context) == nil { missing.append(name) }
            } catch {
                failures[name] = error
            }
        }
        return missing
    }
}

/// An answer in a ``CachingResolver``, for diagnosis.
public struct CachedAnswer: Hashable, Sendable, CustomStringConvertible {
    /// The name.
    public let host: DomainName
    /// The port that the answer is for; `nil` if it is for all ports.
    public let port: UInt16?
    /// The endpoints, in order of preference. Empty if the answer is that the name has no address.
    public let endpoints: [Endpoint]
    /// The source of the endpoints; `nil` for a negative answer.
    public let author: AddressSource.Author?
    /// The time since the answer came.
    public let age: Duration
    /// The time for which the answer is still valid; negative if it has expired.
    public let timeLeft: Duration

    /// Whether the answer has expired. A stale answer is used for ``CachingResolver/Settings/staleTime``.
    public var isStale: Bool { timeLeft <= .zero }

    /// The name, the endpoints, the age and the time that is left.
    public var description: String {
        let name = port.map { "\(host):\($0)" } ?? "\(host)"
        let list = endpoints.isEmpty ? "no address" : endpoints.map { "\($0)" }.joined(separator: ", ")
        return "\(name): \(list), \(age.text) old, \(isStale ? "stale" : "valid for \(timeLeft.text)")"
    }
}

extension CachingResolver {
    /// The cached answers, sorted by name. A copy, for diagnosis: the cache goes on changing.
    public var contents: [CachedAnswer] {
        let table = state.withLock { $0.table }
        let now = now
        var answers: [CachedAnswer] = []
        table.entries.forEach { name, tag, entry in
            let key = AnswerKey(host: DomainName(checked: [UInt8](copying: name)), tag: tag)
            let left = Int64(clamping: entry.expiry.nanoseconds) - Int64(clamping: now.nanoseconds)
            answers.append(
                CachedAnswer(
                    host: key.host,
                    port: key.port == 0 ? nil : key.port,
                    endpoints: table.contents(of: entry, at: now),
                    author: entry.author,
                    age: max(.zero, .milliseconds(Int64(entry.span)) - .nanoseconds(left)),
                    timeLeft: .nanoseconds(left)
                )
            )
        }
        return answers.sorted { ($0.host.text, $0.port ?? 0) < ($1.host.text, $1.port ?? 0) }
    }
}
