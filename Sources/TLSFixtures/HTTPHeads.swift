/// A request head, parsed strictly enough for a test server.
struct RequestHead {
    /// The framing of a request's body.
    enum Framing: Equatable {
        case none
        case length(Int)
        case chunked
    }

    let bytes: [UInt8]
    let method: String
    let target: String
    let version: String
    let headers: FixtureHeaders

    /// Parses a head that ends with an empty line.
    init(_ bytes: [UInt8]) throws(ConnectionEnd) {
        self.bytes = bytes
        let lines = Self.lines(bytes)
        // There may be none between line ends that a client sends before its request.
        let requestLine = (lines.first ?? "").split(separator: " ", omittingEmptySubsequences: false)
        guard requestLine.count == 3, !requestLine[0].isEmpty, requestLine[2].hasPrefix("HTTP/1."),
            lines.first?.isClean ?? false
        else { throw .badRequest("request line") }
        (method, target) = (String(requestLine[0]), String(requestLine[1]))
        version = String(requestLine[2])
        headers = try Self.fields(Array(lines.dropFirst()))
    }

    /// Parses the field lines of a head or a trailer section.
    static func fields(_ lines: [String]) throws(ConnectionEnd) -> FixtureHeaders {
        var headers = FixtureHeaders()
        for line in lines {
            guard let colon = line.firstIndex(of: ":") else { throw .badRequest("field line without colon") }
            guard line.isClean else { throw .badRequest("CR or NUL in a field line") }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            headers.append(String(line[..<colon]), String(value.trimmingEnd()))
        }
        return headers
    }

    /// Returns the lines before the empty one. It splits bytes rather than Characters, since CR LF is one
    /// Character.
    static func lines(_ bytes: [UInt8]) -> [String] {
        bytes.split(separator: 10).map { line in
            String(decoding: line.last == 13 ? line.dropLast() : line, as: UTF8.self)
        }.filter { !$0.isEmpty }
    }

    /// Returns the framing by RFC 9112, section 6.3. Every contradiction is an error.
    func framing() throws(ConnectionEnd) -> Framing {
        let codings = headers.all("transfer-encoding")
        let lengths = headers.all("content-length")
        if !codings.isEmpty {
            guard lengths.isEmpty else { throw .badRequest("Content-Length beside Transfer-Encoding") }
            guard codings.count == 1, codings[0].asciiLowercased == "chunked" else {
                throw .badRequest("Transfer-Encoding other than chunked")
            }
            return .chunked
        }
        guard let first = lengths.first else { return .none }
        guard lengths.count == 1, let length = Int(first), first.utf8.allSatisfy({ (48...57).contains($0) })
        else {
            throw .badRequest("Content-Length")
        }
        return .length(length)
    }

    /// Whether the client wants the connection closed after the response.
    var asksForClose: Bool {
        let options = headers.connectionOptions
        return options.contains("close") || version == "HTTP/1.0" && !options.contains("keep-alive")
    }

    /// Whether the connection has to be closed after the response: the client wants it, or a message of
    /// HTTP/1.0 has a transfer coding, which others may have framed in another way (RFC 9112, section 6.1).
    var endsConnection: Bool {
        asksForClose || version == "HTTP/1.0" && headers["transfer-encoding"] != nil
    }

    /// What is answered by 400 (RFC 9112, sections 2.3, 3.2, 5.1 and 5.2). `nil` if there is nothing.
    var fault: String? {
        guard version.utf8.count == 8, let digit = version.utf8.last, (48...57).contains(digit) else {
            return "version"
        }
        let hosts = headers.all("host")
        if hosts.count > 1 { return "several Host fields" }
        if hosts.isEmpty, version != "HTTP/1.0" { return "no Host field" }
        if hosts.contains(where: { $0.contains { " \t,/?#@".contains($0) } }) { return "Host" }
        return headers.fields.allSatisfy(\.name.isToken) ? nil : "the name of a field"
    }
}

extension FixtureHeaders {
    /// The options of the Connection fields, in lower case.
    var connectionOptions: [Substring] {
        all("connection").joined(separator: ",").asciiLowercased.split(separator: ",")
            .map { $0.drop { $0 == " " || $0 == "\t" }.trimmingEnd() }
    }
}

extension [UInt8] {
    private static let interim = Array("HTTP/1.1 1".utf8)

    /// Whether the final response of these bytes announces that the connection will be closed.
    var announcesClose: Bool {
        var rest = self[...]
        while rest.starts(with: Self.interim), let end = rest.firstRange(of: [13, 10, 13, 10]) {
            rest = rest[end.upperBound...]
        }
        guard let end = rest.firstRange(of: [13, 10, 13, 10]), end.lowerBound > 0 else { return false }
        var lines = RequestHead.lines(Array(rest[..<end.lowerBound]))
        lines.removeFirst()
        guard let headers = try? RequestHead.fields(lines) else { return false }
        return headers.connectionOptions.contains("close")
    }
}

/// The head of a response.
struct ResponseHead {
    var status: Int
    var reason: String?
    var headers: FixtureHeaders

    /// The status line and the header fields, with the empty line.
    var bytes: [UInt8] {
        let line = "HTTP/1.1 \(status) \(reason ?? Self.reasons[status] ?? "Fixture")\r\n"
        return Array(line.utf8) + Self.lines(headers) + Array("\r\n".utf8)
    }

    /// The response to a request that is not one, behind which the connection is closed.
    static func refusal(_ why: String) -> [UInt8] {
        let headers: FixtureHeaders = [
            "Content-Type": "text/plain", "Content-Length": "\(why.utf8.count)", "Connection": "close",
        ]
        return ResponseHead(status: 400, headers: headers).bytes + Array(why.utf8)
    }

    static func lines(_ headers: FixtureHeaders) -> [UInt8] {
        headers.fields.flatMap { Array("\($0.name): \($0.value)\r\n".utf8) }
    }

    private static let reasons = [
        100: "Continue", 101: "Switching Protocols", 103: "Early Hints", 200: "OK", 201: "Created",
        202: "Accepted", 204: "No Content", 206: "Partial Content", 301: "Moved Permanently", 302: "Found",
        303: "See Other", 304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed",
        407: "Proxy Authentication Required", 412: "Precondition Failed", 413: "Content Too Large",
        416: "Range Not Satisfiable", 417: "Expectation Failed", 421: "Misdirected Request",
        425: "Too Early", 429: "Too Many Requests", 500: "Internal Server Error", 502: "Bad Gateway",
        503: "Service Unavailable", 504: "Gateway Timeout",
    ]
}

extension String {
    /// Whether it is a token (RFC 9110, section 5.6.2).
    fileprivate var isToken: Bool {
        !isEmpty
            && utf8.allSatisfy {
                (48...57).contains($0) || (97...122).contains($0 | 32) || "!#$%&'*+-.^_`|~".utf8.contains($0)
            }
    }

    /// Whether there is neither CR nor NUL in the line. A recipient refuses these, or takes them for spaces
    /// (RFC 9112, section 2.2; RFC 9110, section 5.5).
    fileprivate var isClean: Bool { !utf8.contains { $0 == 13 || $0 == 0 } }
}

extension Substring {
    fileprivate func trimmingEnd() -> Substring {
        var rest = self
        while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
        return rest
    }
}

extension [UInt8] {
    /// The length of the head at the front of the array, including the empty line, or `nil` if it is
    /// incomplete.
    ///
    /// - Parameter start: The count of bytes that an earlier call has already searched.
    func headLength(searchedTo start: Int) -> Int? {
        var index = Swift.max(3, start)
        while index < count {
            // CR LF CR LF: the last byte is tested first because it is rarely LF.
            if self[index] == 10, self[index - 1] == 13, self[index - 2] == 10, self[index - 3] == 13 {
                return index + 1
            }
            index += 1
        }
        return nil
    }
}
