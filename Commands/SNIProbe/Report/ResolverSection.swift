/// The part of a report on the resolvers of a host: who answers what, and which bad address only some give.
struct ResolverSection {
    let lookup: ReportDigest.Lookup
    let entries: [ReportEntry]

    func write(to page: inout HTMLPage) {
        page.element("h3", text: "Resolvers")
        page.element("p", text: head)
        page.table("Answers of the resolvers", headings: ["Resolver", "Addresses", "Time to live"]) { page in
            for reply in lookup.replies {
                let addresses = reply.addresses.joined(separator: ", ")
                let life = reply.timeToLive.map { "\(Words.grouped($0)) s" } ?? ""
                page.row(
                    reply.resolver,
                    cells: [reply.error.map { PlainText.cut($0, to: 300, mark: "…") } ?? addresses, life]
                )
            }
        }
        for line in verdicts { page.element("p", ["class": "fail"], text: line) }
    }

    private var head: String {
        if lookup.replies.count == 1 { return "One resolver was asked." }
        return lookup.differ
            ? "The resolvers differ." : "All \(lookup.replies.count) resolvers give the same."
    }

    /// A line for each failed address that only some resolvers give.
    private var verdicts: [String] {
        entries.compactMap { entry in
            guard let ip = entry.ip, let fault = entry.faults.first else { return nil }
            let givers = entry.replies.filter(\.givesIP)
            let answering = entry.replies.filter { !$0.addresses.isEmpty }
            guard !givers.isEmpty, givers.count < answering.count else { return nil }
            let names = givers.map(\.resolver).joined(separator: ", ")
            return "\(ip) is given by \(names) only, and fails: \(fault.text)"
        }
    }
}
