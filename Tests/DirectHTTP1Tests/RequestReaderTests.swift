import DirectHTTP1
import Testing

@Suite("The request reader")
struct RequestReaderTests {
    @Test(
        "A request is read the same however its bytes are cut",
        arguments: [
            ("CONNECT a.example:443 HTTP/1.1\r\nHost: a\r\n\r\n", "CONNECT a.example:443 none +"),
            ("CONNECT a:443 HTTP/1.0\r\n\r\n", "CONNECT a:443 none -"),
            ("GET http://a/ HTTP/1.1\r\nConnection: close\r\n\r\n", "GET http://a/ none -"),
            ("GET http://a/ HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET http://a/ none +"),
            ("\r\nGET / HTTP/1.1\r\n\r\n", "GET / none +"),
            ("PUT /x HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", "PUT /x length(5) + hello"),
            ("PUT /x HTTP/1.1\r\nContent-Length: 0\r\n\r\n", "PUT /x length(0) +"),
            (
                "PUT /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n2;a=b\r\n!!\r\n0\r\nA: b\r\n\r\n",
                "PUT /x chunked + hello!! trailers"
            ),
        ]
    )
    func requests(_ text: String, _ expected: String) throws {
        let bytes = Array(text.utf8)
        for cut in 0...bytes.count {
            #expect(try Self.read([bytes[..<cut], bytes[cut...]]) == expected, "cut at \(cut)")
        }
        #expect(try Self.read(bytes.indices.map { bytes[$0...$0] }) == expected)
    }

    @Test(
        "What recipients read in different ways is refused, however its bytes are cut",
        arguments: [
            ("GET  http://a/ HTTP/1.1\r\n\r\n", .malformedRequestLine),
            ("GET http://a/ HTTP/1.1\n\r\n", .malformedRequestLine),
            ("GET http://a/\r\n\r\n", .malformedRequestLine),
            ("GET http://a/ x HTTP/1.1\r\n\r\n", .malformedRequestLine),
            ("G(T http://a/ HTTP/1.1\r\n\r\n", .malformedRequestLine),
            ("GET http://a/\u{e9} HTTP/1.1\r\n\r\n", .malformedRequestLine),
            ("\r\n\r\nGET / HTTP/1.1\r\n\r\n", .malformedRequestLine),
            ("\u{16}\u{3}\u{1}", .malformedRequestLine),
            ("GET http://a/ HTTP/1.2\r\n\r\n", .unsupportedVersion),
            ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .unsupportedVersion),
            (
                "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
                .message(.transferEncodingWithContentLength)
            ),
            ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", .message(.transferEncodingInHTTP10)),
            (
                "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
                .message(.unsupportedTransferCoding)
            ),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked,\r\n\r\n", .message(.invalidTransferEncoding)),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: identity\r\n\r\n", .message(.unsupportedTransferCoding)),
            ("POST / HTTP/1.1\r\nTransfer-Encoding : chunked\r\n\r\n", .message(.whitespaceBeforeColon)),
            (
                "POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
                .message(.conflictingContentLengths)
            ),
            ("POST / HTTP/1.1\r\nContent-Length: +5\r\n\r\n", .message(.invalidContentLength)),
            ("POST / HTTP/1.1\r\nA: b\nContent-Length: 5\r\n\r\n", .message(.bareLineFeed)),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello", .message(.bareLineFeed)),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\n", .message(.invalidChunkSize)),
        ] as [(String, RequestFault)]
    )
    func faults(_ text: String, _ fault: RequestFault) {
        let bytes = Array(text.utf8)
        for cut in 0...bytes.count {
            #expect(throws: fault, "cut at \(cut)") { try Self.read([bytes[..<cut], bytes[cut...]]) }
        }
    }

    @Test("A head that is too long is refused before it is complete, in its line and in its fields")
    func limits() {
        var limits = HTTP1Limits()
        (limits.headBytes, limits.lineBytes) = (100, 40)
        let line = Array(("GET /" + String(repeating: "x", count: 60)).utf8)
        #expect(throws: RequestFault.message(.lineTooLong(limit: 40))) { try Self.read([line[...]], limits) }
        let fields = Array(("GET / HTTP/1.1\r\n" + String(repeating: "A: 12345\r\n", count: 20)).utf8)
        #expect(throws: RequestFault.message(.headTooLarge(limit: 84))) {
            try Self.read([fields[...]], limits)
        }
    }

    @Test("The bytes behind a head and behind a request's content are left for what follows")
    func rest() throws {
        var reader = RequestReader()
        reader.begin()
        let head = Array("CONNECT a:1 HTTP/1.1\r\n\r\n\u{16}\u{3}\u{1}".utf8)
        #expect(try reader.next(head.span).used == head.count - 3)
        reader.begin()
        let two = Array("PUT / HTTP/1.1\r\nContent-Length: 2\r\n\r\nokGET / HTTP/1.1\r\n\r\n".utf8)
        let first = try reader.next(two.span).used
        let content = try reader.next(Array(two[first...]).span)
        #expect(content.used == 2)
        let end = try reader.next(Array(two[(first + 2)...]).span)
        #expect(end.used == 0)
        guard case .end = end.event else { return #expect(Bool(false), "the request has ended") }
    }

    /// What a reader makes of a request that comes in pieces, in words.
    private static func read(
        _ pieces: [ArraySlice<UInt8>],
        _ limits: HTTP1Limits = HTTP1Limits()
    ) throws -> String {
        var reader = RequestReader(limits: limits)
        reader.begin()
        var (input, content, words) = ([UInt8](), "", [String]())
        for piece in pieces {
            input += piece
            reading: while true {
                let step = try reader.next(input.span)
                switch step.event {
                case .needsMore:
                    input.removeFirst(step.used)
                    break reading
                case .head(let head):
                    let target = String(decoding: head.target, as: UTF8.self)
                    words += ["\(head.method)", target, "\(head.framing)", head.persists ? "+" : "-"]
                case .content(let range): content += String(decoding: input[range], as: UTF8.self)
                case .trailers: words.append("trailers")
                case .end: break reading
                }
                input.removeFirst(step.used)
            }
        }
        if !content.isEmpty { words.insert(content, at: 4) }
        return words.joined(separator: " ")
    }
}
