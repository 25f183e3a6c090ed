internal import DirectCore

/// The scheduler of lookups by the system's resolver: it decides which name is looked up next and which
/// callers get the result. It has no threads, lock or clock of its own.
///
/// Callers for one name share one call, across all clients. Names wait in two queues: those that have been
/// answered before, and all others. The others may not use the last `reserved` calls, so that names that hang
/// leave room for names that do not.
///
/// A call of the resolver cannot be interrupted. A call that all its callers have abandoned still occupies
/// its thread, so it counts towards the limit of threads but no longer towards the limit of awaited calls.
/// The same holds for a call that takes longer than `patience`: it probably waits for a server that does not
/// answer, and names that are answered should not wait for it.
///
/// A name is in one of three states (``Standing``): idle, queued, or called. Its entry is removed when it has
/// neither callers nor calls.
struct LookupPlan<Asker> {
    /// The limits on calls.
    struct Limits {
        /// The maximum number of calls that have waiting callers and are younger than `patience`.
        var awaited = 16
        /// The number of these calls, and of threads, that only names that have been answered before may use.
        /// Names that hang thus leave room for names that do not.
        var reserved = 4
        /// The maximum number of calls for one name, with or without waiting callers.
        var perName = 4
        /// The maximum number of calls.
        var threads = 64
        /// The nanoseconds after which a call no longer counts as awaited.
        var patience: UInt64 = 1_000_000_000
    }

    /// The state of a name, as far as its callers need to know it.
    enum Progress: Equatable {
        /// No call has been started for the caller.
        case queued
        /// A call was started at this time.
        case called(Instant)
    }

    /// A caller's place in the plan.
    struct Ticket {
        fileprivate let name: String
        fileprivate let number: UInt64
    }

    /// A call to make now.
    struct Call {
        let name: String
        let start: Instant
        fileprivate let number: UInt64
        fileprivate let era: UInt64
    }

    /// A waiting caller.
    private struct Entry {
        let asker: Asker
        let era: UInt64
        /// The latest time at which a call for this caller may start.
        let lastStart: Instant
    }

    /// A name with its callers and calls.
    private struct Question {
        var askers: [UInt64: Entry] = [:]
        var calls = 0
        var standing = Standing.idle
    }

    /// The state of a name.
    private enum Standing {
        /// There are no callers, or no further call is made for them: a call in progress will answer them
        /// when it ends.
        case idle
        /// The name is waiting for a call to be started.
        case queued(Waitlist<String>.Ticket, isKnown: Bool)
        /// A call that was started for the present callers is in progress.
        case called(Ongoing)

        /// Whether there is nothing left to wait for once this call is over.
        func isOver(with number: UInt64) -> Bool {
            switch self {
            case .idle: true
            case .queued: false
            case .called(let call): call.number == number
            }
        }
    }

    /// A call in progress.
    private struct Ongoing {
        let number: UInt64
        let era: UInt64
        let start: Instant
        /// Whether it counts towards the limit of awaited calls.
        var counts = true
    }

    private let limits: Limits
    private var questions: [String: Question] = [:]
    private var known: Set<String> = []
    private var queueOfKnown = Waitlist<String>()
    private var queueOfOthers = Waitlist<String>()
    private var calls = 0
    private var awaitedCalls = 0
    /// The calls that may count towards the limit of awaited calls, the oldest first.
    private var recent: [(name: String, number: UInt64, start: Instant)] = []
    /// The last number given to a caller or a call.
    private var lastNumber: UInt64 = 0
    /// The number of times that ``forgetAll()`` was called.
    private var era: UInt64 = 0

    init(_ limits: Limits = Limits()) {
        self.limits = limits
    }

    /// The number of waiting callers.
    var askerCount: Int { questions.values.reduce(0) { $0 + $1.askers.count } }

    /// Adds a caller for a name. A call that is in progress for the name answers this caller too, unless it
    /// was started before the last ``forgetAll()``.
    mutating func ask(
        _ name: String,
        asker: Asker,
        until deadline: Instant = .never,
        at now: Instant
    ) -> Ticket {
        lastNumber += 1
        var question = questions[name] ?? Question()
        let lastStart = Self.lastStart(until: deadline, at: now)
        question.askers[lastNumber] = Entry(asker: asker, era: era, lastStart: lastStart)
        switch question.standing {
        case .queued: break
        case .called(let call) where call.era == era: break
        case .called, .idle: enqueue(&question, name: name)
        }
        questions[name] = question
        return Ticket(name: name, number: lastNumber)
    }

    /// Removes a caller. If it was the last one, a call that has not started is not made.
    mutating func leave(_ ticket: Ticket) {
        guard var question = questions[ticket.name],
            question.askers.removeValue(forKey: ticket.number) != nil
        else { return }
        if question.askers.isEmpty {
            if case .called = question.standing { known.remove(ticket.name) }
            stand(.idle, question: &question)
        }
        keep(question, name: ticket.name)
    }

    /// Returns the next call to make, or `nil` if there is none or no room for it.
    mutating func nextCall(at now: Instant) -> Call? {
        giveUpSlowCalls(at: now)
        while let name = nextName() {
            guard var question = questions[name] else { continue }
            defer { questions[name] = question }
            guard question.askers.values.contains(where: { $0.lastStart > now }) else {
                stand(.idle, question: &question)
                continue
            }
            lastNumber += 1
            let call = Call(name: name, start: now, number: lastNumber, era: era)
            let ongoing = Ongoing(number: call.number, era: era, start: now)
            stand(.called(ongoing), question: &question)
            recent.append((name, call.number, now))
            question.calls += 1
            calls += 1
            return call
        }
        return nil
    }

    /// Returns what has become of the name that a caller waits for; `nil` if the caller has left or was
    /// answered.
    func progress(of ticket: Ticket) -> Progress? {
        guard let question = questions[ticket.name], question.askers[ticket.number] != nil else { return nil }
        guard case .called(let call) = question.standing else { return .queued }
        return .called(call.start)
    }

    /// The nanoseconds after which a call no longer counts as awaited.
    var patience: UInt64 { limits.patience }

    /// Notes that a call is over, and returns the callers that get its result: all callers for the name
    /// except those that came after a ``forgetAll()`` that is later than the call.
    mutating func end(_ call: Call) -> [Asker] {
        calls -= 1
        guard var question = questions[call.name] else { return [] }
        question.calls -= 1
        let answered = question.askers.filter { $0.value.era <= call.era }
        for number in answered.keys { question.askers[number] = nil }
        if !answered.isEmpty { note(call.name) }
        if question.askers.isEmpty {
            stand(.idle, question: &question)
        } else if question.standing.isOver(with: call.number) {
            enqueue(&question, name: call.name)
        }
        keep(question, name: call.name)
        return answered.sorted { $0.key < $1.key }.map(\.value.asker)
    }

    /// Keeps later callers from getting the result of calls that have already started.
    mutating func forgetAll() {
        era += 1
        known = []
    }

    /// Queues a name for a call, unless it has reached its limit of calls.
    private mutating func enqueue(_ question: inout Question, name: String) {
        guard question.calls < limits.perName else { return stand(.idle, question: &question) }
        let isKnown = known.contains(name)
        let ticket = isKnown ? queueOfKnown.append(name) : queueOfOthers.append(name)
        stand(.queued(ticket, isKnown: isKnown), question: &question)
    }

    /// Changes the state of a name together with the queues and the count that depend on it. No other
    /// function changes it.
    private mutating func stand(_ next: Standing, question: inout Question) {
        switch question.standing {
        case .idle: break
        case .queued(let ticket, isKnown: true): _ = queueOfKnown.remove(ticket)
        case .queued(let ticket, isKnown: false): _ = queueOfOthers.remove(ticket)
        case .called(let call): awaitedCalls -= call.counts ? 1 : 0
        }
        if case .called(let call) = next, call.counts { awaitedCalls += 1 }
        question.standing = next
    }

    /// Stops counting the calls as awaited that have taken too long.
    private mutating func giveUpSlowCalls(at now: Instant) {
        var done = 0
        for (name, number, start) in recent {
            var question = questions[name] ?? Question()
            if case .called(var call) = question.standing, call.number == number {
                guard start.advanced(byNanoseconds: limits.patience) <= now else { break }
                call.counts = false
                stand(.called(call), question: &question)
                questions[name] = question
            }
            done += 1
        }
        recent.removeFirst(done)
    }

    /// Removes and returns the next name that may be looked up.
    private mutating func nextName() -> String? {
        if hasRoom(besides: 0), let name = queueOfKnown.popFirst() { return name }
        return hasRoom(besides: limits.reserved) ? queueOfOthers.popFirst() : nil
    }

    private func hasRoom(besides reserved: Int) -> Bool {
        awaitedCalls + reserved < limits.awaited && calls + reserved < limits.threads
    }

    /// Stores a name's entry, or forgets it if it has neither callers nor calls.
    private mutating func keep(_ question: Question, name: String) {
        questions[name] = question.askers.isEmpty && question.calls == 0 ? nil : question
    }

    /// Notes that a name has been answered.
    private mutating func note(_ name: String) {
        if known.count >= Self.knownLimit { known = [] }
        known.insert(name)
    }

    /// Returns the latest time at which a call for a caller may start: nine tenths of the way to its
    /// deadline.
    ///
    /// A caller in the last tenth is as good as gone. If many give up one after the other, each would
    /// otherwise make room for a call for the next one, and all threads would hang.
    private static func lastStart(until deadline: Instant, at now: Instant) -> Instant {
        guard deadline < .never, deadline > now else { return deadline }
        return Instant(nanoseconds: deadline.nanoseconds - (deadline.nanoseconds - now.nanoseconds) / 10)
    }

    private static var knownLimit: Int { 1024 }
}
