internal import DirectHTTP

/// The fault or the warning that a stapled OCSP response, or its absence, gives rise to.
///
/// A revoked certificate is a fault wherever it is proved. Otherwise a response is only required by a
/// certificate that says so (RFC 7633): clients that check it refuse the server then. Without that, an
/// unusable response is a warning, because some clients refuse it and most ignore it.
struct StapleVerdict {
    private(set) var fault: Fault?
    private(set) var warning: Warning?

    init(_ served: Handshake.Served, now: Int, _ settings: ProbeSettings = ProbeSettings()) {
        // Without a connection there is none.
        guard served.facts != nil else { return }
        let isRequired = served.chain.leaf?.requiresStaple == true
        guard let staple = served.staple else {
            if isRequired {
                let words = "\(Self.requirement), and the server sends none"
                fault = Fault(.stapleMissing, words, brief: "required OCSP staple missing")
            }
            return
        }
        if case .revoked(let since, let reason) = staple.status {
            fault = Self.revoked(since: since, reason: reason)
            return
        }
        // An untrusted chain has a fault already, and without its issuer no response can be checked.
        guard served.chain.judgement.isTrusted else { return }
        if let defect = Self.defect(of: staple, now: now) {
            let words = "\(Self.requirement), and \(defect)"
            if isRequired {
                fault = Fault(.stapleMissing, words, brief: "required OCSP staple unusable")
            } else {
                warning = Warning(id: .stapleUnusable, text: defect)
            }
        }
        judgeEnd(of: staple, named: "the stapled OCSP response", now: now, settings)
    }

    /// The verdict on what the issuer says, with `--revocation`.
    init(_ revocation: Revocation, now: Int, _ settings: ProbeSettings) {
        let who = revocation.source?.words ?? ""
        guard let answer = revocation.judgement else {
            warning = Warning(id: .revocationUnknown, text: "revocation unknown: \(revocation.failure)")
            return
        }
        if case .revoked(let since, let reason) = answer.status {
            fault = Self.revoked(since: since, reason: reason, who: ", says \(who)")
        } else if let defect = Self.defect(of: answer, now: now, "the answer of \(who)") {
            let others = revocation.failure.isEmpty ? "" : "; \(revocation.failure)"
            warning = Warning(id: .revocationUnknown, text: "revocation unknown: \(defect)\(others)")
        }
        judgeEnd(of: answer, named: "the answer of \(who)", isStapled: false, now: now, settings)
    }

    /// Judges the end of a good answer by the thresholds. Without one, a stapled response with less than a
    /// quarter of its time left is a warning: responders and servers renew it long before. Lists may be
    /// renewed on their last day.
    private mutating func judgeEnd(
        of answer: StapleJudgement,
        named what: String,
        isStapled: Bool = true,
        now: Int,
        _ settings: ProbeSettings
    ) {
        guard fault == nil, case .good = answer.status, let end = answer.nextUpdate else { return }
        let text =
            warning?.text ?? "\(what) ends in \(Words.distance(max(0, end - now))), and no newer one is sent"
        if let least = settings.minimumStatusDays, end - now < least * 86_400 {
            fault = Fault(.statusEnds, text, brief: "\(isStapled ? "OCSP staple" : "issuer's answer") ends")
            warning = nil
            return
        }
        let quarter = isStapled ? (end - (answer.thisUpdate ?? end)) / 4 : 0
        let most = settings.warningStatusDays.map { $0 * 86_400 } ?? quarter
        guard warning == nil, end - now < most else { return }
        warning = Warning(id: isStapled ? .stapleEnds : .revocationEnds, text: text)
    }

    private static func revoked(since: Int?, reason: String?, who: String = "") -> Fault {
        let when = since.map { " on \(UTC.day($0))" } ?? ""
        let why = reason.map { " (\($0))" } ?? ""
        return Fault(.revoked, "revoked\(when)\(why)\(who)", brief: "revoked\(when)")
    }

    private static let requirement = "the certificate requires a stapled OCSP response"

    /// Why a response does not show that the certificate is good; `nil` if it does.
    static func defect(
        of staple: StapleJudgement,
        now: Int,
        _ what: String = "the stapled OCSP response"
    ) -> String? {
        switch staple.status {
        case .unusable(let why): return "\(what) is unusable: \(why)"
        case .unknown: return "\(what) says that its issuer does not know the certificate"
        case .good, .revoked: break
        }
        if let end = staple.nextUpdate, end + tolerance < now {
            return "\(what) is out of date since \(Words.distance(now - end))"
        }
        if let start = staple.thisUpdate, start - tolerance > now {
            return "\(what) is not valid yet"
        }
        if staple.nextUpdate == nil, !staple.isCurrent {
            return "\(what) is not of this day, and names no end"
        }
        return nil
    }

    /// The difference of clocks that is not an error, in seconds.
    private static let tolerance = 300
}

extension StapleJudgement {
    /// The status as one word of the JSON output.
    func word(now: Int) -> String {
        switch status {
        case .revoked: "revoked"
        case .unknown: "unknown"
        case .unusable: "unusable"
        case .good: StapleVerdict.defect(of: self, now: now) == nil ? "good" : "out_of_date"
        }
    }
}

extension Revocation {
    /// The status as one word of the JSON output.
    func word(now: Int) -> String { judgement?.word(now: now) ?? "no_answer" }
}
