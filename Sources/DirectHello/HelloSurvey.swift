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
        case .alert, .closed, .reset: true
        default: false
        }
    }
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
    package private(set) var replies: [(form: HelloForm, reply: HelloReply)] = []

    /// Begins without replies.
    package init(_ survey: HelloSurvey) { self.survey = survey }

    /// The next hello to send; `nil` if no more is needed.
    ///
    /// The control is sent before and after. A form that is not answered is sent three times in a row, so
    /// that several members of a pool which is asked in turn get it, and then the control twice: a server may
    /// have had enough of this client. If it does not answer the control, there is no more to ask.
    package var next: HelloForm? {
        var rest = replies[...]
        var control = survey.control
        if let control {
            guard let first = rest.popFirst() else { return control }
            guard first.reply.isYes(to: control) else {
                // Who refuses the usual groups may take the one that is asked about.
                return survey == .postQuantum && first.reply.isRefusal && rest.isEmpty ? .hybrid : nil
            }
        }
        for form in survey.forms {
            guard let first = rest.popFirst() else { return form }
            guard !first.reply.isYes(to: form) else {
                control = control ?? form
                continue
            }
            for _ in 1..<Self.tries where rest.popFirst() == nil { return form }
            guard let control else { continue }
            for _ in 0..<2 {
                guard let again = rest.popFirst() else { return control }
                guard again.reply.isYes(to: control) else { return nil }
            }
        }
        return rest.isEmpty && replies.last?.form != survey.control ? survey.control : nil
    }

    private static let tries = 3
    /// The number of hellos of a survey that may go without an answer.
    package static let mostUnanswered = tries * (HelloSurvey.allCases.map(\.forms.count).max() ?? 1)

    /// Takes the reply to ``next``.
    package mutating func add(_ reply: HelloReply) {
        if let form = next { replies.append((form, reply)) }
    }

    /// The replies to the hellos of this form.
    package func replies(to form: HelloForm) -> [HelloReply] {
        replies.filter { $0.form == form }.map(\.reply)
    }

    /// What is known of the hellos of this form.
    package func verdict(on form: HelloForm) -> Verdict {
        let replies = replies(to: form)
        let count = replies.count { $0.isYes(to: form) }
        // What was answered each time is proved by that.
        if count > 0, count == replies.count { return .yes }
        guard !replies.isEmpty, isControlled || form == firstAnswered, next == nil,
            !replies.contains(.unconnected)
        else { return .unknown }
        return count == 0 ? .no : .varies
    }

    /// Whether the control was answered each time.
    private var isControlled: Bool {
        guard let control = survey.control ?? firstAnswered else { return false }
        let answers = replies(to: control)
        return !answers.isEmpty && answers.allSatisfy { $0.isYes(to: control) }
    }

    /// The control of a survey that has none of its own.
    private var firstAnswered: HelloForm? {
        guard survey.control == nil else { return nil }
        return survey.forms.first { form in replies(to: form).contains { $0.isYes(to: form) } }
    }

    /// The group that a server of TLS 1.3 chooses among the classic ones, if it is known.
    package var classicGroup: WireGroup? {
        for case .hello(let hello) in replies(to: .classic) {
            if let group = hello.group.flatMap(WireGroup.init) { return group }
        }
        return nil
    }
}
