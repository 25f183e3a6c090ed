internal import DirectHTTP

/// The summary after the results of a run, and the hints.
struct Summary {
    let tally: Tally
    let style: Style
    let interrupted: Bool
    let hints: Bool

    var text: String {
        guard tally.count > 0 || interrupted else { return "" }
        var text = ""
        if tally.count > 1 || interrupted {
            text +=
                "\n" + style.wrapped(counts + sni, indent: 0).joined(separator: "\n") + "\n" + certificates
        }
        text += ResolverTable(hosts: tally.lookups, verdicts: tally.resolverVerdicts, style: style).text
        guard hints else { return text }
        for hint in tally.hints.prefix(12) {
            let words = tally.count > 1 ? hint.text(severalHosts: tally.hosts.count > 1) : hint.hint.text
            text += (text.isEmpty ? "" : "\n") + style.hint(words)
        }
        return text
    }

    private var counts: String {
        let count = Words.grouped(tally.count)
        guard tally.count > 0 else { return "Interrupted before the first result." }
        guard rest.isEmpty || !interrupted else {
            return "Interrupted\(rest). Of \(count) that finished, \(Words.grouped(tally.passed)) passed."
        }
        let stop = interrupted ? "Interrupted. " : ""
        if tally.failed == 0 { return "\(stop)\(tally.count == 1 ? "1 passed." : "All \(count) passed.")" }
        return "\(stop)\(Words.grouped(tally.passed)) of \(count) passed."
    }

    /// What an interrupted run has left undone.
    private var rest: String {
        var parts: [String] = []
        if tally.unfinished > 0 { parts.append("\(Words.grouped(tally.unfinished)) not finished") }
        if tally.isCutShort { parts.append("the rest of the input not begun") }
        return parts.isEmpty ? "" : ", with " + parts.joined(separator: " and ")
    }

    /// A sentence on how many of the passed probes need SNI. Empty if none does.
    private var sni: String {
        let needed = tally.verdicts[.needed, default: 0]
        let strict = tally.verdicts[.neededStrict, default: 0]
        guard tally.passed > 0, needed + strict > 0 else { return "" }
        let names = tally.defaultNames.map { style.safe($0, upTo: 64) }.joined(separator: ", ")
        let shown = names.isEmpty ? "" : " (without it: \(names))"
        if needed + strict == tally.passed {
            return " SNI needed on all that passed\(shown)."
        }
        return " SNI needed on \(Words.grouped(needed + strict)) of them\(shown)."
    }

    /// The list of a host's certificates. Empty if there is only one, or more than one host.
    private var certificates: String {
        guard tally.hosts.count == 1, tally.certificates.count > 1 else { return "" }
        let all = tally.certificates.count + tally.omittedCertificates
        let head = "\(all) certificates: "
        let shown = tally.certificates.sorted { $0.count > $1.count }.prefix(8)
        let lines = shown.enumerated().map { index, certificate in
            let place = certificate.count == 1 ? "1 IP, " : "\(Words.grouped(certificate.count)) IPs,"
            let until = certificate.notAfter.map(UTC.day) ?? "no date"
            let few = certificate.count <= 3 && index > 0
            let addresses = few ? ": " + certificate.addresses.joined(separator: ", ") : ""
            let start = index == 0 ? head : String(repeating: " ", count: head.count)
            return "\(start)\(certificate.hash.prefix(8)) on \(place) until \(until)\(addresses)\n"
        }
        let hidden = all - lines.count
        guard hidden > 0 else { return lines.joined() }
        return lines.joined() + String(repeating: " ", count: head.count)
            + "and \(Words.grouped(hidden)) more\n"
    }
}
