/// What stands behind the head of a request, read as the head frames it (RFC 9112, section 6.3).
///
/// Nothing is forgiven: what a client frames wrongly is the next request for a server.
struct SentContent {
    private(set) var bytes: [UInt8] = []
    private(set) var faults: [Difference] = []
    /// What follows the content.
    private(set) var rest: ArraySlice<UInt8>

    /// - Parameters:
    ///   - lengths: The values of Content-Length.
    ///   - codings: Those of Transfer-Encoding.
    init(_ sent: ArraySlice<UInt8>, lengths: [String], codings: [String]) {
        rest = sent
        if let last = codings.last?.lowercased().split(separator: ",").last {
            guard last.filter({ $0 != " " && $0 != "\t" }) == "chunked" else {
                note("the last transfer coding", "chunked", String(last))
                return
            }
            takeChunks()
        } else if let length = lengths.first {
            let digits = Array(length.utf8)[...].trimmed
            guard lengths.count == 1, digits.allSatisfy(\.isDigit), let count = Int(digits.latin1) else {
                note("content-length", "a number", lengths.joined(separator: ", "))
                return
            }
            bytes = Array(rest.prefix(count))
            if bytes.count < count { note("content", "\(count) bytes", "\(bytes.count)") }
            rest = rest.dropFirst(count)
        }
    }

    /// Compares it with the content that was to be sent.
    func differences(from wanted: [UInt8]) -> [Difference] {
        var found = faults
        if found.isEmpty { found += Difference.between("content", expected: wanted, got: bytes) }
        if found.isEmpty, !rest.isEmpty {
            found.append(Difference(what: "behind the content", expected: "nothing", got: rest.latin1))
        }
        return found
    }

    private mutating func takeChunks() {
        while let line = takeLine() {
            let size = line.prefix { $0 != UInt8(ascii: ";") }
            guard size.allSatisfy(\.isHexDigit), let count = Int(size.latin1, radix: 16) else {
                return note("the size of a chunk", "hexadecimal digits", line.latin1)
            }
            // No blanks that are there for old recipients alone (RFC 9110, section 5.6.3).
            if line.hasBlankOutsideQuotes {
                note("a chunk extension", "without blanks", line.latin1)
            }
            guard count > 0 else { return takeTrailers() }
            bytes += rest.prefix(count)
            rest = rest.dropFirst(count)
            guard takeLine()?.isEmpty == true else { return note("behind a chunk", "a line end", "none") }
        }
        note("chunks", "a last one", "none")
    }

    /// Takes the lines up to the empty one. Those of a client itself may not be fields that a recipient needs
    /// before the content (RFC 9110, section 6.5.1), and none that is no list comes twice (section 5.3).
    private mutating func takeTrailers() {
        var seen: Set<String> = []
        while let line = takeLine() {
            guard !line.isEmpty else { return }
            let name = line.prefix { $0 != UInt8(ascii: ":") }.latin1.lowercased()
            if Self.fieldsOfHeads.contains(name) {
                note("trailer \(name)", "none", line.latin1)
            }
            if !seen.insert(name).inserted, SentHead.fieldsThatComeOnce.contains(name) {
                note("trailer \(name)", "once", "again")
            }
        }
        note("trailers", "an empty line behind them", "none")
    }

    /// Those of framing, routing, conditions, credentials and the form of the content.
    private static let fieldsOfHeads: Set<String> = [
        "authorization", "cache-control", "connection", "content-encoding", "content-length",
        "content-range", "content-type", "cookie", "expect", "host", "if-match", "if-modified-since",
        "if-none-match", "if-range", "if-unmodified-since", "max-forwards", "proxy-authorization", "range",
        "te", "trailer", "transfer-encoding", "upgrade",
    ]

    private mutating func takeLine() -> ArraySlice<UInt8>? {
        guard let end = rest.firstRange(of: [13, 10]) else { return nil }
        defer { rest = rest[end.upperBound...] }
        return rest[..<end.lowerBound]
    }

    private mutating func note(_ what: String, _ expected: String, _ got: String) {
        faults.append(Difference(what: what, expected: expected, got: got))
    }
}

extension ArraySlice<UInt8> {
    /// Whether a space or a tab stands where no quoted string is (RFC 9110, section 5.6.4). One without an
    /// end is none.
    fileprivate var hasBlankOutsideQuotes: Bool {
        var rest = self
        while let byte = rest.popFirst() {
            if byte == 32 || byte == 9 { return true }
            if byte == UInt8(ascii: "\""), let end = rest.endOfQuotedString { rest = rest[end...] }
        }
        return false
    }

    /// Where a quoted string ends that has begun before. `nil`: nowhere.
    private var endOfQuotedString: Int? {
        var isEscaped = false
        for index in indices {
            if !isEscaped, self[index] == UInt8(ascii: "\"") { return index + 1 }
            isEscaped = !isEscaped && self[index] == UInt8(ascii: "\\")
        }
        return nil
    }
}
