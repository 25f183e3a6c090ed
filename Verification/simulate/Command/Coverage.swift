/// What a search should reach: a judge that never judges, or a fault that never happens, proves nothing.
enum Coverage {
    private static let judges = """
        Host, address of a retry, bytes at a time, bytes of a response, bytes of an upload, bytes kept of \
        a download, bytes used of a download, cached response, confirmed response, cancellation, closing, \
        codings, connections of an origin, deadline, descriptors, digest, executed once, figures of a \
        connection, file of a download, hedge, leaks, memory, released clients, loser of a hedge, request \
        of a download, request of a part, result of a download, retries, reuse, datagram to a resolver, \
        secrets, sent once at a time, server name, local address, way to a socket, shortage of \
        descriptors, siblings of a connection, no reason, slow, fields of a response, speed, stale \
        connection, stall, TLS only, the client's own secret, time of a proxy, upload, age of a cookie, \
        cookie of an earlier run, cookies of a request, damage in the middle of content, error beside a \
        cache folder, policy that was kept, response that was kept, saved state file, size of a cache \
        folder, state file that is found, variant of a response, address of a request, dialled address, \
        failure of resolvers, question to the system, question for the servers, question after a restart, \
        repeated question, request to a resolver, saved answers, event, identity of a client, raw stream, \
        TLS settings of a request, use of the cache, user of a response, user of a cached response, wait \
        for 100 (Continue), cookies of a jar, phase of an error, login with Basic, address for a program, \
        answer to a program, bytes of a program, bytes of a tunnel, end of a proxy, end of a tunnel, report \
        of a tunnel, page, question for records, port of a record
        """

    private static let callers = """
        download after a power failure, download begun anew, download continued, hedge won or lost, login \
        refused, cancellation, victim, no cache folder, power failure, power failure before a call of the \
        disk, restart, save failed
        """

    private static let faults = """
        disk failed, disk full, full buffer, half a session ticket, idle connection closed, no descriptor, \
        nonce is stale, reset, datagram lost, datagram twice, no room for a datagram, resolver at a port \
        that refuses, clock set ahead, clock set back, file of another user, file replaced by another \
        process, half-closed by the server, late lookup, no answer of a lookup, no thread, program \
        stopped, short read or write of a file, short send, slow proxy, upload not read
        """

    private static func list(_ text: String) -> [String] { text.split(separator: ", ").map(String.init) }

    private static var names: [String] {
        var names = [
            "client: cache reports an error", "client: cache reports damage", "client: input held back",
            "server: digest challenge",
        ]
        names += list(judges).map { "judge: " + $0 }
        names += list(callers).map { "caller: " + $0 }
        names += list(faults).map { "fault: " + $0 }
        names += RangeFault.allCases.map { "fault: part \($0)" }
        names += ResolverPlan.Manner.allCases.filter { $0 != .answers }.map { "fault: resolver \($0)" }
        names += AddressPlan.CertificateList.allCases.map { "fault: certificates \($0)" }
        names += AddressPlan.Fate.allCases.filter { $0 != .works }.map { "fault: address \($0)" }
        names += SettingsPlan.FileChange.allCases.map { "fault: file of settings, \($0)" }
        names += ResolverPlan.Binding.allCases.map { "resolver: record, \($0)" }
        names += ReplyPlan.Ending.allCases.filter { $0 != .complete }.map { "fault: reply \($0)" }
        return names
    }

    /// The number of worlds after which everything should have been reached.
    static let worlds = 5000

    /// Returns the names of what was never reached.
    static func missing(in counts: [String: Int]) -> [String] { names.filter { counts[$0] == nil } }
}
