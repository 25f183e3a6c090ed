internal import DirectHTTP
internal import DirectHello

/// What the hellos of a survey have found, in words.
struct HelloWords {
    let finding: HelloFinding

    /// The text behind the label, for a line with other things.
    var labelled: String { "\(finding.survey.label) \(text)" }

    var text: String {
        let parts = HelloFinding.Verdict.allCases.compactMap { verdict -> String? in
            let forms = finding.survey.forms.filter { finding.verdict(on: $0) == verdict }
            return forms.isEmpty ? nil : intro(verdict) + list(forms, verdict)
        }
        let isHybrid = finding.verdict(on: .hybrid) == .yes
        let group = finding.classicGroup.map { ", \(isHybrid ? "else" : "but") \($0.name)" } ?? ""
        let refusal = finding.replies(to: .classic).first { !$0.isHello }?.words ?? ""
        return parts.joined(separator: "; ") + group
            + (isHybridAlone ? ", and no other (\(refusal))" : "")
    }

    private func intro(_ verdict: HelloFinding.Verdict) -> String {
        switch verdict {
        case .yes: finding.survey == .sizes ? "arrives: " : ""
        case .no: "not "
        case .varies: "sometimes "
        case .unknown: "unknown: "
        }
    }

    /// The forms, each with why it has its verdict; several with the same reason share it.
    private func list(_ forms: [HelloForm], _ verdict: HelloFinding.Verdict) -> String {
        let whys = forms.map { why($0, verdict) }
        let names = forms.enumerated().map { index, form in
            let isShared = index + 1 < whys.count && whys[index + 1] == whys[index]
            return form.words + (isShared || whys[index].isEmpty ? "" : " (\(whys[index]))")
        }
        return names.joined(separator: ", ")
    }

    private func why(_ form: HelloForm, _ verdict: HelloFinding.Verdict) -> String {
        let replies = finding.replies(to: form)
        switch verdict {
        case .yes: return ""
        case .no: return replies.first?.words ?? ""
        case .varies:
            let count = finding.count(of: form)
            return "\(count.yes) of \(count.all)"
        case .unknown:
            let lost = finding.lostControl.map { "the control gets \($0.words)" }
            return lost ?? replies.first { !$0.isHello }?.words ?? "not asked in time"
        }
    }

    /// Which long hello goes without an answer, and how often; `nil` if none does, or a short one as well.
    var lost: String? {
        let forms = failing([.long, .longInTwo])
        let replies = forms.flatMap { form in finding.replies(to: form).map { ($0, $0.isYes(to: form)) } }
        guard let why = replies.first(where: { !$0.1 })?.0.words else { return nil }
        let pieces = forms == [.longInTwo] ? " in two pieces" : ""
        return "a ClientHello of \(Words.grouped(HelloForm.longSize)) bytes\(pieces) fails (\(why)), in "
            + "\(replies.count { !$0.1 }) of \(replies.count) tries"
    }

    /// Whether a long hello is lost in one piece as well, and so for its length.
    var losesLength: Bool { !failing([.long]).isEmpty }

    /// Whether each version was refused as one that is not spoken.
    var refusesAllVersions: Bool {
        finding.survey == .versions
            && finding.replies.allSatisfy { $0.reply == .alert(TLSAlert.protocolVersion.number) }
    }

    /// Whether the server takes the group that withstands quantum computers, and refuses all others.
    var isHybridAlone: Bool {
        let usual = finding.replies(to: .classic)
        return finding.verdict(on: .hybrid) == .yes && !usual.contains(where: \.isHello)
    }

    /// How a short hello goes without an answer; `nil` if it has one in each form.
    var lostPieces: String? {
        let forms = failing([.fiveBytesFirst, .twoRecords])
        return forms.isEmpty ? nil : "a ClientHello fails " + Words.all(forms.map(\.words))
    }

    private func failing(_ forms: [HelloForm]) -> [HelloForm] {
        forms.filter { [.no, .varies].contains(finding.verdict(on: $0)) }
    }
}

extension Observation {
    /// What the long hellos have found, if they were sent.
    var sizes: HelloWords? { hellos.first { $0.survey == .sizes }.map(HelloWords.init) }
}

extension HelloSurvey {
    /// The label of the line.
    var label: String {
        switch self {
        case .versions: "versions"
        case .postQuantum: "post-quantum"
        case .sizes: "long hello"
        }
    }
}

extension HelloForm {
    fileprivate var words: String {
        switch self {
        case .long: "\(Words.grouped(Self.longSize)) bytes"
        case .longInTwo: "\(Words.grouped(Self.longSize)) bytes in two pieces"
        case .fiveBytesFirst: "cut after 5 bytes"
        case .twoRecords: "in two records"
        default: rawValue
        }
    }
}

extension HelloReply {
    fileprivate var isHello: Bool { if case .hello = self { true } else { false } }

    /// The reply in words.
    var words: String {
        switch self {
        case .hello(let hello): hello.version.map { "it chooses TLS \($0.number)" } ?? "an older version"
        case .alert(let number): TLSAlert(number: number).words
        case .closed: "closed"
        case .reset: "reset"
        case .silent: "no answer"
        case .other: "not TLS"
        case .unconnected: "no connection"
        }
    }
}
