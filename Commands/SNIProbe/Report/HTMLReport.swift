/// A report as one HTML file that loads nothing and needs no script.
///
/// It is well-formed XML as well, so that a test can read it. The policy in its head makes a browser refuse
/// to load anything, even if an escape were forgotten.
struct HTMLReport {
    let digest: Digest
    /// A sentence on why the results are not all, or `nil`.
    var incomplete: String?

    /// More pictures than that are scrolled through by nobody, and one file has to stay small.
    private static let mostPictures = 50

    /// The page.
    var bytes: [UInt8] {
        var page = HTMLPage()
        write(to: &page)
        return page.bytes
    }

    private func write(to page: inout HTMLPage) {
        page.markup("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n")
        page.markup("<meta http-equiv=\"Content-Security-Policy\" ")
        page.markup("content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n")
        page.markup("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n")
        page.markup("<meta name=\"referrer\" content=\"no-referrer\"/>\n")
        page.element("title", text: "sni-probe: \(verdict)")
        page.markup("\n<style>\n")
        page.rules(HTMLStyle.text)
        page.markup("</style>\n</head>\n<body>\n<main>\n")
        head(&page)
        counts(&page)
        advice(&page)
        for (index, pool) in digest.pools.enumerated() {
            if index == Self.mostPictures { break }
            self.pool(of: pool.host, entries: pool.entries, number: index + 1, to: &page)
        }
        omissions(&page)
        validity(&page)
        foot(&page)
        page.markup("</main>\n</body>\n</html>\n")
    }

    /// The result in a few words.
    private var verdict: String {
        let count = Words.grouped(digest.count)
        if digest.count == 0 { return "no results" }
        if digest.failed == 0 { return digest.count == 1 ? "1 passed" : "all \(count) passed" }
        return "\(Words.grouped(digest.failed)) of \(count) failed"
    }

    private func head(_ page: inout HTMLPage) {
        page.element("h1", text: "Certificates: \(verdict)")
        page.endLine()
        if let times = digest.times {
            let begin = "\(UTC.day(times.lowerBound)) \(UTC.clock(times.lowerBound))"
            let end = "\(UTC.day(times.upperBound)) \(UTC.clock(times.upperBound))"
            let span = begin == end ? "at \(begin)" : "from \(begin) to \(end)"
            page.element("p", ["class": "soft"], text: "\(digest.extent), \(span) UTC, by sni-probe.")
        }
        if let incomplete { page.element("p", ["class": "fail"], text: incomplete) }
        page.element("p", text: serverNames)
        page.endLine()
    }

    /// A sentence on how many of the passed results need SNI.
    private var serverNames: String {
        let needed = digest.needingSNI
        let known = digest.passed - digest.verdicts[.unknown, default: 0]
        guard known > 0 else { return "Whether SNI is needed is not known." }
        if needed == 0 { return "SNI is needed on none that passed." }
        if needed == known { return "SNI is needed on all that passed, where it is known." }
        return "SNI is needed on \(Words.grouped(needed)) of \(Words.grouped(known)) that passed."
    }

    private func counts(_ page: inout HTMLPage) {
        page.heading("Summary")
        page.table("Results by state, fault and warning", headings: ["What", "Results", "Meaning"]) { page in
            let warned = "\(Words.grouped(digest.warned)) of them with warnings"
            page.row("passed", cells: [Words.grouped(digest.passed), warned])
            page.row("failed", cells: [Words.grouped(digest.failed), ""])
            for (id, count) in digest.faults.sorted {
                let meaning = Fault.ID(rawValue: id)?.row.meaning ?? "A fault."
                page.row(cut(id), cells: [Words.grouped(count), meaning])
            }
            for (id, count) in digest.warnings.sorted {
                let meaning = Warning.ID(rawValue: id)?.meaning ?? "A warning."
                page.row(cut(id), cells: [Words.grouped(count), meaning])
            }
        }
    }

    private func advice(_ page: inout HTMLPage) {
        guard !digest.hints.isEmpty else { return }
        page.element("h2", text: "What to do")
        page.element("ul") { page in
            for hint in digest.hints { page.element("li", text: cut(hint, to: 1000)) }
        }
        page.endLine()
    }

    private func pool(of host: String, entries: [ReportEntry], number: Int, to page: inout HTMLPage) {
        page.element("section", ["aria-labelledby": "host-\(number)"]) { page in
            page.element("h2", ["id": "host-\(number)"], text: cut(host))
            page.endLine()
            let picture = PoolPicture(host, entries, counts: digest.leads[host] ?? [:])
            if !picture.targets.isEmpty { picture.write(to: &page, number: number) }
            let headings = ["Address", "State", "Certificate", "Until", "SNI", "Remarks"]
            page.table("Results for \(cut(host))", headings: headings) { page in
                for entry in entries { row(entry, to: &page) }
            }
            if let lookup = digest.lookups.first(where: { $0.host == host }) {
                ResolverSection(lookup: lookup, entries: entries).write(to: &page)
            }
        }
        page.endLine()
    }

    private func row(_ entry: ReportEntry, to page: inout HTMLPage) {
        let state = entry.state
        page.element("tr") { page in
            let place = entry.url.map { "\(entry.place) \($0)" } ?? "\(entry.place) port \(entry.port)"
            page.element("th", ["scope": "row", "class": "mono"], text: cut(place, to: 300))
            page.element("td") { $0.element("b", ["class": state.rawValue], text: state.word) }
            let certificate = entry.certificate
            let hash = certificate.map { "\($0.hash.prefix(8))" } ?? "none"
            page.element("td", ["class": "mono whole"], text: hash)
            page.element("td", ["class": "whole"], text: certificate?.notAfter.map(UTC.day) ?? "")
            page.element("td", text: words(entry))
            let remarks = ((entry.faults + entry.warnings).map(\.text) + entry.hellos).joined(separator: "; ")
            page.element("td", text: cut(remarks, to: 1000))
        }
        page.endLine()
    }

    private func words(_ entry: ReportEntry) -> String {
        let names = entry.defaultNames.isEmpty ? "" : ": without it \(cut(entry.defaultNames[0]))"
        return (SNIFinding.Verdict(rawValue: entry.verdict) ?? .unknown).words
            + (entry.verdict == "needed" ? names : "")
    }

    private func omissions(_ page: inout HTMLPage) {
        let hosts = digest.pools.count - Self.mostPictures
        guard digest.omitted > 0 || hosts > 0 else { return }
        page.element("h2", text: "Not shown")
        if digest.omitted > 0 {
            let count = Words.grouped(digest.omitted)
            let words = "more results are counted above and not listed. Faults are listed first."
            page.element("p", text: "\(count) \(words)")
        }
        if hosts > 0 {
            let words = "The results of \(Words.grouped(hosts)) more hosts are counted and not listed."
            page.element("p", text: words)
        }
        page.endLine()
    }

    private func validity(_ page: inout HTMLPage) {
        let rows = digest.certificates.sorted
        guard let now = digest.times?.upperBound, !rows.isEmpty else { return }
        page.heading("Validity")
        ValidityPicture(rows, now: now).write(to: &page)
        let caption =
            digest.certificates.isCut
            ? "The \(rows.count) certificates that end first; there are more"
            : "Certificates, the first to end first"
        let headings = ["SHA-256", "Names", "Issuer", "From", "Until", "Left", "Results"]
        page.table(caption, headings: headings) { page in
            for row in rows {
                let certificate = row.certificate
                let rest = certificate.namesCount - certificate.names.count
                let names = certificate.names.map { cut($0) } + (rest > 0 ? ["\(rest) more"] : [])
                page.row(
                    String(certificate.hash.prefix(16)),
                    cells: [
                        names.joined(separator: ", "), cut(certificate.issuer, to: 200),
                        certificate.notBefore.map(UTC.day) ?? "", certificate.notAfter.map(UTC.day) ?? "",
                        ValidityPicture.left(certificate, at: now), Words.grouped(row.count),
                    ]
                )
            }
        }
    }

    private func foot(_ page: inout HTMLPage) {
        page.element("h2", text: "Before you pass it on")
        let text =
            "This report has the names and the IPs that were probed, inner ones too, the names in all certificates, and "
            + "what resolvers answered. It loads nothing and runs no script."
        page.element("p", text: text)
        page.endLine()
    }

    private func cut(_ text: String, to limit: Int = 120) -> String { PlainText.cut(text, to: limit) }
}

extension SNIFinding.Verdict {
    /// The verdict in the cell of a table.
    var words: String {
        switch self {
        case .needed: "needed"
        case .neededStrict: "needed: refused without it"
        case .noDifference: "makes no difference"
        case .changesCertificate: "changes the certificate, both are right"
        case .selectsWrong: "selects a wrong certificate"
        case .refused: "the name is refused"
        case .varies: "answers vary"
        case .unknown: "not known"
        }
    }
}
