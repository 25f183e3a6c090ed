package import DirectCore

/// Lookups by the system's resolver. All lookups of the process go through this type.
///
/// Callers that ask for the same name at the same time share one call, across all clients. A caller that
/// gives up is removed immediately. A call without callers is not started, and one that has started does not
/// keep other names from being looked up. Neither does one that takes longer than a second, as long as there
/// are threads. See ``NameSearch`` for what a caller gets, and ``LookupPlan`` for the calls.
package final class SystemLookups: Sendable {
    /// The addresses of a name, or the resolver's error.
    package typealias Answer = Result<[IPAddress], LookupError>

    typealias Limits = LookupPlan<LookupCalls.Asker>.Limits

    /// The lookups of this process. There is one resolver in a process, so there is one of these.
    package static let shared = SystemLookups(
        Limits(),
        ofFamily: Limits(threads: 32),
        both: { lookUp($0) },
        family: { lookUp($0, family: $1) }
    )

    /// The calls for both families.
    let both: LookupCalls
    private let families: (v4: LookupCalls, v6: LookupCalls)?

    /// Creates lookups by a function that may block and does not know families.
    package convenience init(_ call: @escaping @Sendable (String) -> Answer) {
        self.init(Limits(), both: call)
    }

    /// Creates lookups by a function that may block, and is given the family to ask for; `nil` for both.
    package convenience init(byFamily call: @escaping @Sendable (String, IPAddress.Family?) -> Answer) {
        self.init(Limits(), both: { call($0, nil) }, family: { call($0, $1) })
    }

    /// Creates lookups by the system's resolver for a program that looks up many names, some of which are
    /// never answered.
    ///
    /// - Parameters:
    ///   - awaited: The maximum number of calls that have waiting callers and are younger than half a second.
    ///   - threads: The maximum number of calls, of which half are for one family.
    package convenience init(awaited: Int, threads: Int) {
        func limits(_ threads: Int) -> Limits {
            // With few threads none can be reserved.
            let reserved = min(4, min(awaited, threads) / 4)
            return Limits(awaited: awaited, reserved: reserved, threads: threads, patience: 500_000_000)
        }
        let ofFamily = max(1, threads / 4)
        self.init(
            limits(max(1, threads - 2 * ofFamily)),
            ofFamily: limits(ofFamily),
            both: { lookUp($0) },
            family: { lookUp($0, family: $1) }
        )
    }

    init(
        _ limits: Limits,
        ofFamily limitsOfFamily: Limits? = nil,
        both call: @escaping @Sendable (String) -> Answer,
        family familyCall: (@Sendable (String, IPAddress.Family) -> Answer)? = nil
    ) {
        both = LookupCalls(limits, call)
        families = familyCall.map { call in
            let limits = limitsOfFamily ?? limits
            return (LookupCalls(limits) { call($0, .v4) }, LookupCalls(limits) { call($0, .v6) })
        }
    }

    /// Returns the addresses of a name. If there are those of one family, the others have a second more to
    /// come.
    ///
    /// - Throws: ``BlockingWork/Abandoned`` if the deadline passes or the task is cancelled first.
    package func addresses(
        of name: String,
        until deadline: Instant,
        on loop: EventLoop
    ) async throws(BlockingWork.Abandoned) -> Answer {
        if let answer = SpecialNames.answer(to: name) { return answer }
        return try await search(for: name, until: deadline, on: loop).found(.list, until: .instant(deadline))
            .answer
    }

    /// Returns the addresses of a name to begin with: of both families, or of the first one that has any. In
    /// that case also returns the search, which continues.
    ///
    /// - Throws: ``BlockingWork/Abandoned`` if the deadline passes or the task is cancelled first.
    package func firstAddresses(
        of name: String,
        until deadline: Instant,
        on loop: EventLoop
    ) async throws(BlockingWork.Abandoned) -> (Answer, NameSearch?) {
        if let answer = SpecialNames.answer(to: name) { return (answer, nil) }
        let search = try search(for: name, until: deadline, on: loop)
        let found = try await search.found(.race, until: .instant(deadline))
        return (found.answer, found.isWhole ? nil : search)
    }

    /// Returns the addresses of a name, and the time that the resolver took. At the limit, those of one
    /// family are enough.
    ///
    /// The time before the call of the resolver begins does not count: however many names wait, each has the
    /// same time.
    ///
    /// - Parameter limit: The time limit of the call in nanoseconds.
    /// - Throws: ``BlockingWork/Abandoned`` if the time limit passes or the task is cancelled first.
    package func addresses(
        of name: String,
        allowing limit: UInt64,
        on loop: EventLoop
    ) async throws(BlockingWork.Abandoned) -> (answer: Answer, time: Duration) {
        if let answer = SpecialNames.answer(to: name) { return (answer, .zero) }
        let asked = loop.now
        // With another clock than the plan's, the start of the call is not known.
        let isHeld = loop.isHeld
        let found = try await search(for: name, until: .never, on: loop).found(
            .unlimited,
            until: isHeld
                ? .instant(asked.advanced(byNanoseconds: limit))
                : .answerTime(nanoseconds: limit, asked: asked)
        )
        let start = isHeld ? asked : max(asked, found.callStart ?? asked)
        return (found.answer, loop.now.since(start))
    }

    private func search(
        for name: String,
        until deadline: Instant,
        on loop: EventLoop
    ) throws(BlockingWork.Abandoned) -> NameSearch {
        if Task.isCancelled { throw .cancelled }
        if deadline <= loop.now { throw .expired }
        // The plan uses the system's clock. A caller with another clock stays in it until its own wait ends.
        return NameSearch(name, until: loop.isHeld ? .never : deadline, in: self, on: loop)
    }

    /// The calls for one family; `nil` if the resolver cannot be asked for one.
    func calls(for family: IPAddress.Family) -> LookupCalls? {
        family == .v4 ? families?.v4 : families?.v6
    }

    /// Keeps calls that were started before from answering later callers. Call this when the network has
    /// changed.
    package func forgetAll() {
        both.forgetAll()
        families?.v4.forgetAll()
        families?.v6.forgetAll()
    }

    /// The number of callers that wait for an answer.
    package var waiting: Int { both.waiting }
}
