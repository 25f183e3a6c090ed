/// A question that hellos written here answer.
package enum HelloSurvey: String, Sendable, CaseIterable {
    /// Which versions of TLS are spoken.
    case versions
    /// Whether the group is spoken that withstands quantum computers, and which otherwise.
    case postQuantum = "post_quantum"
    /// Whether a hello of a browser's size arrives, and one that comes in pieces.
    case sizes

    /// The hellos that are asked about.
    package var forms: [HelloForm] {
        switch self {
        case .versions: [.tls13, .tls12, .tls11, .tls10]
        case .postQuantum: [.hybrid]
        case .sizes: [.long, .longInTwo, .fiveBytesFirst, .twoRecords]
        }
    }

    /// The hello of the same kind that has to be answered, or nothing is known of the others; `nil` if it is
    /// the first of them that is answered.
    package var control: HelloForm? {
        switch self {
        case .versions: nil
        case .postQuantum: .classic
        case .sizes: .short
        }
    }
}

/// A hello of a survey.
package enum HelloForm: String, Sendable, CaseIterable {
    case tls10 = "1.0"
    case tls11 = "1.1"
    case tls12 = "1.2"
    case tls13 = "1.3"
    case hybrid = "X25519MLKEM768"
    case classic
    case short
    case long
    case longInTwo = "long_in_two"
    case fiveBytesFirst = "five_bytes_first"
    case twoRecords = "two_records"

    /// The size of a browser's hello with a share for X25519MLKEM768, and where the path cuts it.
    package static let longSize = 1_900
    private static let segment = 1_400

    /// The version that is offered alone.
    package var version: WireVersion? { WireVersion.allCases.first { $0.number == rawValue } }

    /// The pieces in which the hello is sent.
    package func pieces(of base: WrittenHello) -> [[UInt8]] {
        var hello = base
        if let version { hello.versions = [version] }
        switch self {
        case .tls10, .tls11, .tls12, .tls13, .classic, .short: return [hello.records()]
        case .hybrid:
            hello.groups = [.x25519MLKEM768]
            return [hello.records()]
        case .long, .longInTwo:
            hello.size = Self.longSize
            let bytes = hello.records()
            return self == .long ? [bytes] : Self.cut(bytes, at: Self.segment)
        case .fiveBytesFirst: return Self.cut(hello.records(), at: 5)
        case .twoRecords: return [hello.records(upTo: (hello.message().count + 1) / 2)]
        }
    }

    private static func cut(_ bytes: [UInt8], at place: Int) -> [[UInt8]] {
        [Array(bytes.prefix(place)), Array(bytes.dropFirst(place))]
    }
}

/// What came back for one hello.
package enum HelloReply: Equatable, Sendable {
    case hello(ServerHello)
    case alert(UInt8)
    case closed
    case reset
    case silent
    /// Something that is not TLS.
    case other
    /// There was no connection, so that nothing is known.
    case unconnected

    /// Whether it is what a server says that speaks what the hello offered.
    package func isYes(to form: HelloForm) -> Bool {
        guard case .hello(let hello) = self else { return false }
        if let version = form.version { return hello.version == version }
        return form != .hybrid || hello.group == WireGroup.x25519MLKEM768.rawValue
    }
}

extension HelloReply {
    /// Whether the server has said or shown that it does not go on.
    fileprivate var isRefusal: Bool {
        switch self {
        case .alert: true
        default: isWordless
        }
    }

    /// Whether the connection was lost without an answer, as by a limit on connections.
    fileprivate var isWordless: Bool { self == .closed || self == .reset }
}

/// The replies to the hellos of a survey, and what follows from them.
package struct HelloFinding: Sendable {
    package enum Verdict: String, Sendable, CaseIterable {
        case yes, no
        /// The same hello got both.
        case varies
        /// The control was not answered each time.
        case unknown
    }

    package let survey: HelloSurvey
    /// The version that a whole handshake had.
    private let spoken: HelloForm?
    package private(set) var replies: [(form: HelloForm, reply: HelloReply, isControl: Bool)] = []

    /// Begins without replies.
    ///
    /// - Parameter spoken: The version of a handshake with the same server, which proves it.
    package init(_ survey: HelloSurvey, spoken: HelloForm? = nil) {
        (self.survey, self.spoken) = (survey, spoken)
    }

    /// The next hello to send; `nil` if no more is needed.
    package var next: HelloForm? { walk().next?.form }

    /// What is to be sent next, and the forms that were refused between controls that were answered.
    private func walk() -> (next: (form: HelloForm, isControl: Bool)?, controlled: Set<HelloForm>) {
        var walk = HelloWalk(survey, spoken: spoken, replies.map(\.reply))
        do throws(HelloWalk.Stop) {
            try walk.run()
            return (nil, walk.controlled)
        } catch {
            guard case .missing(let form, let isControl) = error else { return (nil, []) }
            return ((form, isControl), [])
        }
    }

    /// The number of hellos of a survey that go without an answer if none has one.
    package static let mostUnanswered = HelloWalk.tries * (HelloSurvey.allCases.map(\.forms.count).max() ?? 1)

    /// Takes the reply to ``next``.
    package mutating func add(_ reply: HelloReply) {
        if let (form, isControl) = walk().next { replies.append((form, reply, isControl)) }
    }

    /// The replies to the hellos of this form, which were not sent as controls of others.
    package func replies(to form: HelloForm) -> [HelloReply] {
        replies.filter { $0.form == form && (!$0.isControl || form == survey.control) }.map(\.reply)
    }

    /// How many hellos of this form were answered as wanted, and of how many.
    package func count(of form: HelloForm) -> (yes: Int, all: Int) {
        let replies = replies(to: form).filter { $0 != .unconnected }
        let proved = form == spoken ? 1 : 0
        return (replies.count { $0.isYes(to: form) } + proved, replies.count + proved)
    }

    /// What is known of the hellos of this form. What was answered is proved by that, whatever the control
    /// got.
    package func verdict(on form: HelloForm) -> Verdict {
        let (yes, all) = count(of: form)
        if yes > 0 { return yes == all ? .yes : .varies }
        let (next, controlled) = walk()
        let isKnown = next == nil && controlled.contains(form) && !replies(to: form).contains(.unconnected)
        return isKnown ? .no : .unknown
    }

    /// What the control got that was not answered, if that has ended the survey.
    package var lostControl: HelloReply? {
        let lost = replies.last { $0.isControl && !$0.reply.isYes(to: $0.form) }
        return walk().controlled.isEmpty ? lost?.reply : nil
    }

    /// The group that a server of TLS 1.3 chooses among the classic ones, if it is known.
    package var classicGroup: WireGroup? {
        for case .hello(let hello) in replies(to: .classic) {
            if let group = hello.group.flatMap(WireGroup.init) { return group }
        }
        return nil
    }
}

/// Goes through the replies of a survey as far as there are some.
///
/// The control is sent before and after. A form that is not answered is sent three times in a row, so that
/// several members of a pool which is asked in turn get it, and then the control twice: a server may have had
/// enough of this client. If it does not answer the control, there is no more to ask. A limit on connections
/// may have ended just before the control, so what has lost a connection without a word is sent once more,
/// and the control as well. Where the forms are controls of each other, those that came before the first that
/// is answered are sent again after it, and the next one that was answered takes its place: some members of a
/// pool may refuse the first.
private struct HelloWalk {
    enum Stop: Error {
        /// This hello is to be sent next.
        case missing(HelloForm, isControl: Bool)
        /// The control is not answered, so nothing is known of what is not either.
        case lost
    }

    private let survey: HelloSurvey
    private let spoken: HelloForm?
    private var rest: ArraySlice<HelloReply>
    private var endsWithControl = false
    private var controls: [HelloForm] = []
    private var forms: [HelloForm]
    private var uncontrolled: [HelloForm] = []
    private(set) var controlled: Set<HelloForm> = []

    static let tries = 3

    init(_ survey: HelloSurvey, spoken: HelloForm?, _ replies: [HelloReply]) {
        (self.survey, self.spoken, rest, forms) = (survey, spoken, replies[...], survey.forms)
    }

    mutating func run() throws(Stop) {
        if let control = survey.control { try begin(with: control) }
        while !forms.isEmpty {
            let form = forms.removeFirst()
            let got = try replies(to: form)
            if got.first?.isYes(to: form) == true {
                if survey.control == nil { takeAsControl(form) }
            } else if !controls.isEmpty {
                controlled.insert(form)
            } else if form != spoken, !got.contains(where: { $0.isYes(to: form) }) {
                uncontrolled.append(form)
            }
        }
        guard let control = survey.control, !rest.isEmpty || !endsWithControl else { return }
        guard try take(control, isControl: true).isYes(to: control) else { throw .lost }
    }

    private mutating func begin(with control: HelloForm) throws(Stop) {
        let first = try take(control, isControl: true)
        guard first.isYes(to: control) else {
            // Who refuses the usual groups may take the one that is asked about.
            if survey == .postQuantum, first.isRefusal { _ = try take(.hybrid, isControl: false) }
            throw .lost
        }
        controls = [control]
    }

    private mutating func takeAsControl(_ form: HelloForm) {
        controls.append(form)
        (forms, uncontrolled) = (uncontrolled + forms, [])
    }

    private mutating func replies(to form: HelloForm) throws(Stop) -> [HelloReply] {
        var got: [HelloReply] = []
        for (tries, proofs) in [(Self.tries, 2), (Self.tries + 1, 1)] {
            while got.count < tries, got.first?.isYes(to: form) != true {
                got.append(try take(form, isControl: false))
            }
            guard got.first?.isYes(to: form) != true, !controls.isEmpty else { break }
            try proveControl(proofs)
            let isAnswered = got.contains { $0.isYes(to: form) }
            guard !isAnswered, got.contains(where: \.isWordless) else { break }
        }
        return got
    }

    /// Takes so many answers in a row to the first control that is still answered.
    private mutating func proveControl(_ times: Int) throws(Stop) {
        var answered = 0
        while let control = controls.first, answered < times {
            if try take(control, isControl: true).isYes(to: control) {
                answered += 1
            } else {
                controls.removeFirst()
                answered = 0
            }
        }
        if controls.isEmpty { throw .lost }
    }

    private mutating func take(_ form: HelloForm, isControl: Bool) throws(Stop) -> HelloReply {
        guard let reply = rest.popFirst() else { throw .missing(form, isControl: isControl) }
        endsWithControl = isControl
        return reply
    }
}
