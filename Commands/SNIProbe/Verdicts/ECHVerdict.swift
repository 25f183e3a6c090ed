internal import DirectCore
internal import DirectHTTP

/// What the handshakes with Encrypted Client Hello mean for clients that use it.
struct ECHVerdict {
    private(set) var fault: Fault?
    private(set) var warning: Warning?

    init(_ finding: ECHFinding, of target: ProbeTarget, now: Int) {
        for trial in finding.trials {
            if let words = Self.defect(of: trial, for: target, now: now), fault == nil {
                fault = Fault(
                    .echUnusable,
                    "with ECH under \(trial.publicName): \(words)",
                    brief: "ECH: \(words)"
                )
            }
            switch trial.verdict {
            case .staleKeys:
                warning = Warning(id: .echStale, text: "ECH: the record has old keys for \(trial.publicName)")
            case .refused where warning == nil:
                warning = Warning(id: .echRefused, text: "ECH: \(trial.publicName) has no keys any more")
            default: break
            }
        }
    }

    /// Why a client with Encrypted Client Hello gets no connection; `nil` if it gets one.
    private static func defect(of trial: ECHTrial, for target: ProbeTarget, now: Int) -> String? {
        switch trial.verdict {
        case .accepted: return trial.handshake.defect(for: target, now: now)
        case .staleKeys: return trial.retry?.defect(for: target, now: now).map { "fresh keys: \($0)" }
        case .ignored:
            let names = trial.handshake.refusal?.chain.leaf.map { ServedNames($0).first(1) } ?? "no name"
            return "the server ignores it, and serves \(names)"
        case .failed: return trial.handshake.defect(for: target, now: now)
        case .refused, .unknown, .notOffered, .notDone: return nil
        }
    }
}

extension Handshake {
    /// Why a client does not accept this handshake; `nil` if it does.
    fileprivate func defect(for target: ProbeTarget, now: Int) -> String? {
        guard let served else { return failure.map { "the handshake failed: \(SNIWords.text(of: $0))" } }
        guard served.chain.match(try? target.identity) != nil else {
            return "wrong certificate: " + (served.chain.leaf.map { ServedNames($0).first(1) } ?? "no name")
        }
        return ChainVerdict(served.chain, now: now).faults.first?.text
    }
}
