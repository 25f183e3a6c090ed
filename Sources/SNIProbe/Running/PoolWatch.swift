internal import DirectCore
internal import DirectHTTP

/// Compares the certificates of a host's addresses with that of the first address that passed, in the order of
/// results.
///
/// It does not compare with the first address as such: if that one has a wrong or outdated certificate, the fault is
/// not with the others.
struct PoolWatch {
    private struct First {
        let hash: [UInt8]
        let notAfter: Int?
        let address: IPAddress
    }

    private var firsts: [String: First] = [:]

    /// The maximum number of hosts that are compared, which limits the memory of a run.
    private static let mostHosts = 50_000

    /// Adds a fault or a warning to the record if its certificate differs from that of the first address.
    mutating func compare(_ record: inout ProbeRecord, mustBeSame: Bool) {
        guard let summary = record.leaf?.summary else { return }
        let host = "\(record.target.name):\(record.target.port)"
        guard let first = firsts[host] else {
            guard record.passed, firsts.count < Self.mostHosts else { return }
            let address = record.observation.probe.address
            firsts[host] = First(hash: summary.sha256, notAfter: summary.notAfter, address: address)
            return
        }
        guard first.hash != summary.sha256 else { return }
        let text = Self.words(summary.notAfter, first: first)
        if mustBeSame {
            // A certificate for other names has a fault already. That it also differs is no news.
            guard record.matchedName != nil else { return }
            record.faults.append(Fault(.differs, "\(text) than \(first.address) shows", brief: text))
            if record.hint == nil {
                record.hint = Hint(
                    kind: .differs,
                    text:
                        "the certificate is not the same on all IPs: see which of them the renewal has not reached"
                )
            }
        } else if record.passed {
            record.warnings.insert(Warning(id: .otherCertificate, text: text), at: 0)
        }
    }

    private static func words(_ notAfter: Int?, first: First) -> String {
        guard let notAfter, let known = first.notAfter, notAfter != known else {
            return "another certificate"
        }
        return notAfter < known ? "older certificate" : "newer certificate"
    }
}
