internal import DirectCore
internal import DirectHTTP

/// What a client asks the responder of `--listen` for. The content of a request is never read.
struct ServedRequest: Equatable {
    private(set) var isHead = false
    private(set) var path = ""
    private(set) var query: [String: String] = [:]
    /// The time that Prometheus waits for the answer.
    private(set) var patience: Duration?

    /// The largest head.
    static let mostBytes = 8 << 10

    /// Parses the head of a request.
    ///
    /// - Parameter names: The names of this server beside its addresses. A web page can have its own name
    ///   resolved to an address of this machine, and would then read what it asks for (DNS rebinding): the
    ///   name that the browser sends gives it away.
    /// - Throws: The answer to a request that is refused.
    init(head: ArraySlice<UInt8>, names: Set<String>) throws(ServedReply) {
        let text = String(decoding: head, as: UTF8.self)
        // CR LF is one character of Swift's; each of them alone is another one, and refused here.
        guard head.allSatisfy({ (0x20..<0x7F).contains($0) || [0x09, 0x0A, 0x0D].contains($0) }) else {
            throw ServedReply(400, "the request has bytes that are not printable")
        }
        var lines = text.split(separator: Character("\r\n"), omittingEmptySubsequences: false)
        guard !lines.contains(where: { $0.contains { $0.isNewline } }) else {
            throw ServedReply(400, "a line of the request does not end in CR LF")
        }
        let words = lines.removeFirst().split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3 else { throw ServedReply(400, "this is no request of HTTP/1.1") }
        guard ["HTTP/1.1", "HTTP/1.0"].contains(words[2]) else {
            throw ServedReply(505, "only HTTP/1.1 is spoken here")
        }
        let fields = try Self.fields(lines)
        try Self.checkHost(fields["host"] ?? [], isOld: words[2] == "HTTP/1.0", names)
        guard ["GET", "HEAD"].contains(words[0]) else {
            throw ServedReply(405, "only GET and HEAD are answered")
        }
        isHead = words[0] == "HEAD"
        try readTarget(words[1])
        if let seconds = fields["x-prometheus-scrape-timeout-seconds"]?.first.flatMap({ Double($0) }),
            (0.1...3600).contains(seconds)
        {
            patience = .milliseconds(Int64(seconds * 1000))
        }
    }

    private static func fields(_ lines: [Substring]) throws(ServedReply) -> [String: [String]] {
        var fields: [String: [String]] = [:]
        for line in lines where !line.isEmpty {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            // Also a folded line, which begins with a blank (RFC 9112, section 5.2).
            guard parts.count == 2, !parts[0].isEmpty, !parts[0].contains(where: \.isWhitespace) else {
                throw ServedReply(400, "a field of the request has no name")
            }
            let value = parts[1].drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace)
            fields[parts[0].lowercased(), default: []].append(String(value.reversed()))
        }
        return fields
    }

    /// Checks the name by which the server was called (RFC 9112, section 3.2).
    private static func checkHost(_ hosts: [String], isOld: Bool, _ names: Set<String>) throws(ServedReply) {
        guard hosts.count == 1 || isOld && hosts.isEmpty else {
            throw ServedReply(400, "the request must have the field Host once")
        }
        guard let host = hosts.first, (try? Endpoint(host)) == nil else { return }
        let name = host.prefix { $0 != ":" }.lowercased()
        guard names.contains(name.hasSuffix(".") ? String(name.dropLast()) : name) else {
            throw ServedReply(421, "this server has another name: call it by its IP, or see --listen-name")
        }
    }

    private mutating func readTarget(_ text: Substring) throws(ServedReply) {
        guard text.first == "/" else { throw ServedReply(400, "the target of the request is no path") }
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = String(parts[0])
        for pair in parts.dropFirst().joined().split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(sides[0]), let value = Self.decoded(sides.count > 1 ? sides[1] : "")
            else { throw ServedReply(400, "the query has a % without two hexadecimal digits") }
            guard query.updateValue(value, forKey: name) == nil else {
                throw ServedReply(400, "the query has a name twice")
            }
        }
    }

    /// Returns a part of a query without its percent signs, as forms and Go's `url.Values` write it.
    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
                continue
            }
            guard rest.count > 1, let code = Hex.decode(Substring(rest.prefix(2)))?.first else { return nil }
            bytes.append(code)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
