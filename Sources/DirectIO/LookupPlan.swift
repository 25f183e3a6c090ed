/// Which names the system's resolver is asked for next, and for whom: a table without threads, lock and clock.
///
/// A call of the resolver cannot be broken off. One that has lost all its askers still occupies its thread, so it counts
/// to the limit of threads, but no longer to the limit of calls that somebody waits for.
struct LookupPlan<Asker> {
    struct Limits {
        /// Calls at a time that somebody waits for.
        var awaited = 16
        /// Of those and of the threads, as many as only names get that have been answered before: names that hang
        /// leave room for names that do not.
        var reserved = 4
        /// Calls at a time for one name, whether somebody waits for them or not.
        var perName = 4
        /// Calls at a time.
        var threads = 64
    }

    /// The place of one asker.
    struct Ticket {
        fileprivate let name: String
        fileprivate let number: UInt64
    }

    /// A call to be made now.
    struct Call {
        let name: String
        fileprivate let number: UInt64
        fileprivate let era: UInt64
    }

    private struct Entry {
        let asker: Asker
        let era: UInt64
        /// When it is too late to begin a call for this asker.
        let lastStart: Instant
    }

    private struct Question {
        var askers: [UInt64: Entry] = [:]
        var calls = 0
        var standing = Standing.idle
    }

    private enum Standing {
        /// Nobody asks, or no further call is made for those who do: the end of one that is under way helps.
        case idle
        case queued(Waitlist<String>.Ticket, isKnown: Bool)
        /// A call is under way that was made for those who ask.
        case called(UInt64, era: UInt64)

        /// Whether nothing is left to wait for once the call of that number is over.
        func isOver(with number: UInt64) -> Bool {
            switch self {
            case .idle: true
            case .queued: false
            case .called(let own, _): own == number
            }
        }
    }

    private let limits: Limits
    private var questions: [String: Question] = [:]
    private var known: Set<String> = []
    private var queueOfKnown = Waitlist<String>()
    private var queueOfOthers = Waitlist<String>()
    private var calls = 0
    private var awaitedCalls = 0
    /// Of askers and of calls.
    private var lastNumber: UInt64 = 0
    /// How often everything has been forgotten.
    private var era: UInt64 = 0

    init(_ limits: Limits = Limits()) {
        self.limits = limits
    }

    /// How many wait for an answer.
    var askerCount: Int { questions.values.reduce(0) { $0 + $1.askers.count } }

    /// Joins those who ask for the name; a call that is under way for them answers this one as well.
    mutating func ask(
        _ name: String,
        _ asker: Asker,
        until deadline: Instant = .never,
        at now: Instant
    ) -> Ticket {
        lastNumber += 1
        var question = questions[name] ?? Question()
        let lastStart = Self.lastStart(until: deadline, at: now)
        question.askers[lastNumber] = Entry(asker: asker, era: era, lastStart: lastStart)
        switch question.standing {
        case .queued: break
        case .called(_, let age) where age == era: break
        case .called, .idle: enqueue(&question, name)
        }
        questions[name] = question
        return Ticket(name: name, number: lastNumber)
    }

    /// The asker waits no longer. Without any a call that has not been made is not made.
    mutating func leave(_ ticket: Ticket) {
        guard var question = questions[ticket.name],
            question.askers.removeValue(forKey: ticket.number) != nil
        else { return }
        if question.askers.isEmpty {
            if case .called = question.standing { known.remove(ticket.name) }
            stand(.idle, &question)
        }
        keep(question, ticket.name)
    }

    /// The next call, if there is one and room for it.
    mutating func nextCall(at now: Instant) -> Call? {
        while let name = nextName() {
            guard var question = questions[name] else { continue }
            defer { questions[name] = question }
            guard question.askers.values.contains(where: { $0.lastStart > now }) else {
                stand(.idle, &question)
                continue
            }
            lastNumber += 1
            let call = Call(name: name, number: lastNumber, era: era)
            stand(.called(call.number, era: era), &question)
            question.calls += 1
            calls += 1
            return call
        }
        return nil
    }

    /// The call is over; says who gets its answer: everybody who asks for the name, but for those who came after all was
    /// forgotten that had been asked before.
    mutating func end(_ call: Call) -> [Asker] {
        calls -= 1
        guard var question = questions[call.name] else { return [] }
        question.calls -= 1
        let answered = question.askers.filter { $0.value.era <= call.era }
        for number in answered.keys { question.askers[number] = nil }
        if !answered.isEmpty { note(call.name) }
        if question.askers.isEmpty {
            stand(.idle, &question)
        } else if question.standing.isOver(with: call.number) {
            enqueue(&question, call.name)
        }
        keep(question, call.name)
        return answered.sorted { $0.key < $1.key }.map(\.value.asker)
    }

    /// Whoever asks from now on does not get the answer of a call that was made before.
    mutating func forgetAll() {
        era += 1
        known = []
    }

    private mutating func enqueue(_ question: inout Question, _ name: String) {
        guard question.calls < limits.perName else { return stand(.idle, &question) }
        let isKnown = known.contains(name)
        let ticket = isKnown ? queueOfKnown.append(name) : queueOfOthers.append(name)
        stand(.queued(ticket, isKnown: isKnown), &question)
    }

    /// The one place where a standing changes, and what hangs on it.
    private mutating func stand(_ next: Standing, _ question: inout Question) {
        switch question.standing {
        case .idle: break
        case .queued(let ticket, isKnown: true): _ = queueOfKnown.remove(ticket)
        case .queued(let ticket, isKnown: false): _ = queueOfOthers.remove(ticket)
        case .called: awaitedCalls -= 1
        }
        if case .called = next { awaitedCalls += 1 }
        question.standing = next
    }

    private mutating func nextName() -> String? {
        if hasRoom(besides: 0), let name = queueOfKnown.popFirst() { return name }
        return hasRoom(besides: limits.reserved) ? queueOfOthers.popFirst() : nil
    }

    private func hasRoom(besides reserved: Int) -> Bool {
        awaitedCalls + reserved < limits.awaited && calls + reserved < limits.threads
    }

    private mutating func keep(_ question: Question, _ name: String) {
        questions[name] = question.askers.isEmpty && question.calls == 0 ? nil : question
    }

    private mutating func note(_ name: String) {
        if known.count >= Self.knownLimit { known = [] }
        known.insert(name)
    }

    /// In the last tenth of its patience an asker is as good as gone. Where many give up one after the other, each would
    /// otherwise make room for a call of the next, and all threads would hang.
    private static func lastStart(until deadline: Instant, at now: Instant) -> Instant {
        guard deadline < .never, deadline > now else { return deadline }
        return Instant(nanoseconds: deadline.nanoseconds - (deadline.nanoseconds - now.nanoseconds) / 10)
    }

    private static var knownLimit: Int { 1024 }
}
