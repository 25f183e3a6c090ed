import DirectHTTP1

extension FuzzTarget {
    /// The request writer, for heads and for trailers.
    ///
    /// - A request is written exactly if each of its parts may be sent: a simple check of every byte decides.
    /// - What is written is exactly the lines that were asked for, in order, and no others: nothing is
    ///   injected.
    /// - It fits into the memory that the writer asked for, of which the address sanitizer knows the end.
    static let request = FuzzTarget(name: "request") { choices in
        let plan = RequestPlan(&choices)
        requireEqual(plan.written, plan.expected, "the request that was asked for, or none")
        requireEqual(plan.writtenTrailers, plan.expectedTrailers, "the trailers that were asked for, or none")
    }
}

/// A request, as the caller and the client ask for it.
private struct RequestPlan {
    private typealias Field = (name: [UInt8], value: [UInt8])

    private let method: [UInt8]
    private let target: [UInt8]
    private let authority: [UInt8]
    private var fields: [Field] = []
    private var extra: [Field] = []
    private let framing: BodyFraming
    private let expectContinue: Bool
    private let close: Bool
    private let upgrade: Bool

    init(_ choices: inout Choices) {
        framing = choices.pick([.none, .length(0), .length(1), .length(.max), .chunked])
        (expectContinue, close, upgrade) = (choices.flag(), choices.flag(), choices.flag())
        let extraCount = choices.number(below: 4)
        var texts = choices.texts()[...]
        method = texts.popFirst() ?? []
        target = texts.popFirst() ?? []
        authority = texts.popFirst() ?? []
        while let name = texts.popFirst() {
            // The name becomes text on its way, which has to be valid UTF-8.
            fields.append((Array(name.text.utf8), texts.popFirst() ?? []))
        }
        extra = Array(fields.suffix(extraCount))
        fields.removeLast(extra.count)
    }

    /// What the package writes; `nil` if it refuses.
    var written: [UInt8]? {
        let (headers, extra) = (Self.headers(fields), Self.headers(extra))
        let method = HTTPMethod(stringLiteral: method.text)
        let head = RequestHead(method, target: target, authority: authority, headers: headers, extra: extra)
        return try? filled(head.sizeBound) { memory in
            try RequestWriter.writeHead(
                head,
                framing: framing,
                announcing: .init(expectContinue: expectContinue, close: close, upgrade: upgrade),
                into: memory
            )
        }
    }

    var writtenTrailers: [UInt8]? {
        let trailers = Self.headers(fields)
        return try? filled(RequestWriter.lastChunkSizeBound(trailers: trailers)) { memory in
            try RequestWriter.writeLastChunk(trailers: trailers, into: memory)
        }
    }

    /// The lines that have to be written; `nil` if the request must be refused.
    var expected: [UInt8]? {
        let method = Array(method.text.utf8)
        guard Self.isToken(method), !target.isEmpty, target.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            !authority.isEmpty, authority.allSatisfy(Self.isAuthorityByte),
            method != Array("TRACE".utf8) || !hasContent
        else { return nil }
        var lines = [method + [0x20] + target + Array(" HTTP/1.1".utf8), Array("Host: ".utf8) + authority]
        let names = Set(fields.map { $0.name.lowered.text })
        for field in fields + extra.filter({ !names.contains($0.name.lowered.text) }) {
            guard Self.isToken(field.name), field.value.allSatisfy(isTextByte) else { return nil }
            switch field.name.lowered.text {
            case "host":
                guard field.value.lowered.text == authority.lowered.text else { return nil }
                continue
            case "content-length", "transfer-encoding", "connection", "expect": return nil
            case "upgrade" where !upgrade: return nil
            default: lines.append(field.name + Array(": ".utf8) + field.value)
            }
        }
        lines += (framingLines + connectionLines(names)).map { Array($0.utf8) } + [[]]
        return lines.flatMap { $0 + [0x0D, 0x0A] }
    }

    private var hasContent: Bool {
        switch framing {
        case .none, .length(0): false
        case .length, .chunked: true
        }
    }

    private var framingLines: [String] {
        let expectation = expectContinue ? ["Expect: 100-continue"] : []
        switch framing {
        case .none, .length(0):
            return ["POST", "PUT", "PATCH"].contains(method.text) ? ["Content-Length: 0"] : []
        case .length(let length): return ["Content-Length: \(length)"] + expectation
        case .chunked: return ["Transfer-Encoding: chunked"] + expectation
        }
    }

    private func connectionLines(_ names: Set<String>) -> [String] {
        let hasTE = names.contains("te") || extra.contains { $0.name.lowered.text == "te" }
        let options =
            (close ? ["close"] : []) + (hasTE ? ["TE"] : [])
            + (upgrade && names.contains("upgrade") ? ["upgrade"] : [])
        return options.isEmpty ? [] : ["Connection: " + options.joined(separator: ", ")]
    }

    /// The last chunk and the trailers; `nil` if they must be refused.
    var expectedTrailers: [UInt8]? {
        var bytes = Array("0\r\n".utf8)
        for field in fields {
            guard Self.isToken(field.name), field.value.allSatisfy(isTextByte),
                !Self.forbiddenInTrailers.contains(field.name.lowered.text)
            else { return nil }
            bytes += field.name + Array(": ".utf8) + field.value + [0x0D, 0x0A]
        }
        return bytes + [0x0D, 0x0A]
    }

    private static func headers(_ fields: [Field]) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for field in fields { headers.add(field.name.text, bytes: field.value) }
        return headers
    }

    private static func isToken(_ name: [UInt8]) -> Bool { !name.isEmpty && name.allSatisfy(isTokenByte) }

    private static func isAuthorityByte(_ byte: UInt8) -> Bool {
        isTokenByte(byte) && !"#^`|".utf8.contains(byte) || "()*,;=:[]%".utf8.contains(byte)
    }

    /// For framing, routing, authentication, control and format (RFC 9110, section 6.5.1).
    private static let forbiddenInTrailers: Set<String> = [
        "age", "authentication-info", "authorization", "cache-control", "connection", "content-disposition",
        "content-encoding", "content-language", "content-length", "content-location", "content-range",
        "content-type", "cookie", "cookie2", "date", "expect", "expires", "host", "if-match",
        "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "keep-alive", "location",
        "max-forwards", "pragma", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        "proxy-connection", "range", "retry-after", "set-cookie", "set-cookie2", "te", "trailer",
        "transfer-encoding", "upgrade", "vary", "warning", "www-authenticate",
    ]
}

/// Returns what `write` puts into memory of exactly `count` bytes.
private func filled(_ count: Int, by write: (UnsafeMutableRawBufferPointer) throws -> Int) throws -> [UInt8] {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
    defer { memory.deallocate() }
    let used = try write(memory)
    require(used <= count, "the bound is enough")
    return Array(memory.prefix(used))
}
