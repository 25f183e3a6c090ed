/// The part of a report on the resolvers of a host: what each answers, and which bad address only some give.
struct ResolverSection {
    let lookup: Digest.Lookup
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
                    cells: [reply.error.map { PlainText.cut($0, to: 300) } ?? addresses, life]
                )
            }
        }
        for line in entries.compactMap(\.resolverLine) { page.element("p", ["class": "fail"], text: line) }
    }

    private var head: String {
        if lookup.replies.count == 1 { return "One resolver was asked." }
        return lookup.differ
            ? "The resolvers differ." : "All \(lookup.replies.count) resolvers give the same."
    }
}
