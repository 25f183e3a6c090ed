internal import DirectCore
internal import DirectHTTP

/// The replies of the resolvers for the hosts of a run, and the addresses that fail and are given by some
/// only.
struct ResolverTable {
    let digest: Digest
    let style: Style

    private static let mostHosts = 20

    /// The text, empty if no resolvers were named.
    var text: String {
        var text = digest.lookups.prefix(Self.mostHosts).map { "\n" + section($0) }.joined()
        if !digest.resolverLines.isEmpty {
            text +=
                "\n"
                + digest.resolverLines.map {
                    style.wrapped(style.safe($0, upTo: 300), indent: 0).joined(separator: "\n")
                }
                .joined(separator: "\n") + "\n"
        }
        return text
    }

    private func section(_ host: Digest.Lookup) -> String {
        let name = style.safe(host.host, upTo: 100)
        let count = host.replies.count
        let words = host.differ ? ": the resolvers differ" : ": all \(count) resolvers give the same"
        let head = name + (count == 1 ? ", as its resolver answers:" : words)
        let width = min(host.replies.map(\.resolver.count).max() ?? 0, 40)
        return head + "\n" + host.replies.map { row($0, width: width) }.joined()
    }

    private func row(_ reply: ReportEntry.Reply, width: Int) -> String {
        let name = style.safe(reply.resolver, upTo: 60)
        let start = "  " + name + String(repeating: " ", count: max(0, width - name.count)) + "  "
        let addresses = reply.addresses.joined(separator: ", ")
        let life = reply.timeToLive.map { "TTL \(Words.grouped($0)) s, " } ?? ""
        let answer = reply.error.map { style.safe($0, upTo: 200) } ?? addresses
        let lines = style.wrapped(
            "\(answer)  (\(life)\(Words.milliseconds(reply.time)) ms)",
            indent: start.count
        )
        return start + lines.joined(separator: "\n" + String(repeating: " ", count: start.count)) + "\n"
    }
}
