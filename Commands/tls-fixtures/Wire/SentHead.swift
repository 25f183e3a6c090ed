internal import DirectHTTP1

/// A request head as it arrived.
struct SentHead {
    private var line: String
    private var fields: [(name: String, value: String)]
    /// The lines of the head, and the bytes behind it.
    private let lines: [[UInt8]]
    private let rest: [UInt8]

    init(_ bytes: [UInt8]) {
        let end = bytes.firstRange(of: [13, 10, 13, 10])
        rest = end.map { Array(bytes[$0.upperBound...]) } ?? []
        lines = Array(bytes[..<(end?.lowerBound ?? bytes.count)]).lines
        line = lines.first?.latin1 ?? ""
        fields = lines.dropFirst().map { line in
            let parts = line.split(separator: 58, maxSplits: 1, omittingEmptySubsequences: false)
            let value = Array(parts.dropFirst().joined())[...].trimmed
            return (name: parts[0].latin1.lowercased(), value: value.latin1)
        }
    }

    private func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// The elements of a list in all its lines, in lower case and without blanks.
    private func elements(_ name: String) -> [String] {
        values(name).joined(separator: ",").lowercased().split(separator: ",")
            .map { $0.filter { $0 != " " && $0 != "\t" } }
    }

    /// What stands behind it, as its own fields frame it.
    var content: SentContent {
        SentContent(rest[...], lengths: values("content-length"), codings: values("transfer-encoding"))
    }

    /// Expects the framing of another head, if it has any and this one has a field of framing with this name.
    mutating func takeFraming(of other: SentHead, insteadOf name: String) {
        guard !values(name).isEmpty else { return }
        let names = ["content-length", "transfer-encoding"]
        guard names.contains(where: { !other.values($0).isEmpty }) else { return }
        fields.removeAll { names.contains($0.name) }
        fields += other.fields.filter { names.contains($0.name) }
    }

    /// Compares the request line, the fields that must be there, and the framing. A client may add fields of
    /// its own, if they are such as may be in a request.
    func differences(from got: SentHead) -> [Difference] {
        var found = Difference.between("request line", expected: line, got: got.line)
        for name in Set(fields.map(\.name)).sorted() {
            let wanted = values(name)
            found += Difference.between(name, expected: wanted, got: got.values(name))
        }
        for name in ["content-length", "transfer-encoding"] where values(name).isEmpty {
            let values = got.values(name)
            guard !values.isEmpty else { continue }
            let difference = Difference(what: name, expected: "none", got: values.joined(separator: ", "))
            // A client that has no content should not say so (RFC 9110, section 8.6).
            found += values == ["0"] && got.rest.isEmpty ? [difference].judged(by: .should) : [difference]
        }
        return found + got.malformations(besides: self)
    }

    /// What no request may have: lines that are not HTTP, bytes behind the head that nothing frames, two
    /// framings, fields about the connection that are not listed, more lines than one of a field that is no
    /// list (RFC 9110, section 5.3), chunked twice, and a Host that is none (RFC 9112, section 3.2).
    ///
    /// - Parameter wanted: A head that may have more of them, too.
    func malformations(besides wanted: SentHead? = nil) -> [Difference] {
        func repetitions(_ what: String, count: (SentHead) -> Int) -> [Difference] {
            let (most, count) = (max(1, wanted.map(count) ?? 0), count(self))
            return count > most ? [Difference(what: what, expected: "once", got: "\(count) times")] : []
        }
        let hosts = values("host").filter { $0.contains { " \t,/?#@".contains($0) } }
        return faults + unlisted
            + hosts.map { Difference(what: "Host", expected: "a host", got: $0, right: .must) }
            + Self.fieldsThatComeOnce.flatMap { name in repetitions(name) { $0.values(name).count } }
            // Chunks within chunks (RFC 9112, section 6.1).
            + repetitions("chunked") { $0.elements("transfer-encoding").count { $0 == "chunked" } }
    }

    /// Fields about the connection that Connection does not list (RFC 9110, sections 7.6.1, 7.8 and 10.1.4).
    private var unlisted: [Difference] {
        let options = elements("connection")
        return ["http2-settings", "keep-alive", "te", "upgrade"].filter {
            !values($0).isEmpty && !options.contains($0)
        }
        .map { Difference(what: $0, expected: "listed in Connection", got: "not listed") }
    }

    static let fieldsThatComeOnce = [
        "authorization", "content-length", "content-type", "cookie", "date", "from", "host",
        "if-modified-since", "if-range", "if-unmodified-since", "max-forwards", "origin",
        "proxy-authorization", "range", "referer", "user-agent",
    ]

    /// Lines that are not HTTP, two framings, or none before bytes that need one.
    private var faults: [Difference] {
        var found: [Difference] = []
        if let line = lines.first, !line.isRequestLine {
            found.append(Difference(what: "request line", expected: "a valid one", got: line.latin1))
        }
        for line in lines.dropFirst() where !line.isFieldLine {
            found.append(Difference(what: "field", expected: "a valid one", got: line.latin1))
        }
        let lengths = (values("content-length"), values("transfer-encoding"))
        if !lengths.0.isEmpty, !lengths.1.isEmpty {
            let both = "Content-Length and Transfer-Encoding"
            found.append(Difference(what: "framing", expected: "one", got: both))
        }
        if lengths.0.isEmpty, lengths.1.isEmpty, !rest.isEmpty {
            found.append(Difference(what: "behind the head", expected: "nothing", got: rest.latin1))
        }
        return found
    }

    /// Returns what makes this head dangerous: lines that are not HTTP, lines that the message had hidden in
    /// another part of it, bytes behind the head that nothing frames, or two framings. A client may have
    /// changed the message in any way that does none of this.
    func offences(of request: RequestVector.RequestHead) -> [Difference] {
        var found = faults
        for name in Set(request.hiddenNames).sorted() where !values(name).isEmpty {
            let got = values(name).joined(separator: ", ")
            found.append(Difference(what: name, expected: "none", got: got))
        }
        if values("host").count > 1 {
            found.append(Difference(what: "Host", expected: "one", got: "\(values("host").count)"))
        }
        return found
    }
}

extension RequestVector.RequestHead {
    /// The names of fields that begin behind a CR or LF within another part of the message.
    fileprivate var hiddenNames: [String] {
        let parts =
            [method.description.bytesOfField, target, authority]
            + [headers, extra].flatMap { headers in
                headers.indices.flatMap { [headers[$0].name.bytesOfField, headers.valueBytes(at: $0)] }
            }
        return parts.flatMap { part in
            part.split(omittingEmptySubsequences: false) { $0 == 13 || $0 == 10 }.dropFirst().compactMap {
                let name = $0.prefix { $0 != UInt8(ascii: ":") }
                return name.isEmpty ? nil : Array(name).latin1.lowercased()
            }
        }
    }
}

extension [UInt8] {
    /// The lines that end in CR LF, or in what comes after the last of these.
    fileprivate var lines: [[UInt8]] {
        var rest = self[...]
        var lines: [[UInt8]] = []
        while let end = rest.firstRange(of: [13, 10]) {
            lines.append(Array(rest[..<end.lowerBound]))
            rest = rest[end.upperBound...]
        }
        return lines + [Array(rest)]
    }

    /// Whether this is a method, a target and a version with single spaces between them (RFC 9112, section
    /// 3).
    fileprivate var isRequestLine: Bool {
        let parts = split(separator: 32, omittingEmptySubsequences: false)
        return parts.count == 3 && !parts[0].isEmpty && parts[0].allSatisfy(\.isTokenByte)
            && !parts[1].isEmpty && parts[1].allSatisfy { $0 > 0x20 && $0 != 0x7F }
            && parts[2].starts(with: "HTTP/1.".utf8) && parts[2].count == 8
    }

    /// Whether this is a name, a colon and a value without control characters (RFC 9112, section 5).
    fileprivate var isFieldLine: Bool {
        guard let colon = firstIndex(of: UInt8(ascii: ":")), colon > 0 else { return false }
        return self[..<colon].allSatisfy(\.isTokenByte)
            && self[colon...].allSatisfy { $0 == 9 || $0 >= 0x20 && $0 != 0x7F }
    }
}
