import DirectHTTP1
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

@Suite("The response reader")
struct ResponseReaderTests {
    private static let small = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8)

    @Test("One reader reads several exchanges in succession")
    func severalExchanges() throws {
        var reader = ResponseReader()
        for _ in 0..<3 {
            #expect(reader.reuse == .reusable)
            reader.begin(.get)
            #expect(reader.reuse == .close(.unfinished))
            #expect(reader.hasStarted == false)
            try Self.expectOK(&reader)
            #expect(reader.hasStarted == true)
        }
    }

    @Test("A response's closing and keep-alive hint do not carry over to the next one")
    func stateIsReset() throws {
        var reader = ResponseReader()
        reader.begin(.head)
        let closing = Array("HTTP/1.0 200 OK\r\nConnection: close\r\nKeep-Alive: timeout=3\r\n\r\n".utf8)
        _ = try reader.next(closing.span)
        #expect(reader.reuse == .close(.serverCloses))
        #expect(reader.keepAlive == KeepAliveHint(timeout: 3))
        reader.begin(.get)
        try Self.expectOK(&reader)
        #expect(reader.reuse == .reusable)
        #expect(reader.keepAlive == nil)
    }

    @Test(
        "After a 1xx or 204 that announces content the connection is not used again: it may still come",
        arguments: [
            ("204 No Content", "Content-Length: 50", ReuseVerdict.close(.doubtfulFraming)),
            ("204 No Content", "Transfer-Encoding: chunked", .close(.doubtfulFraming)),
            ("204 No Content", "Content-Length: 0", .reusable),
            ("304 Not Modified", "Content-Length: 50", .reusable),
            ("103 Early Hints", "Content-Length: 50", .close(.doubtfulFraming)),
            ("100 Continue", "Transfer-Encoding: chunked", .close(.doubtfulFraming)),
            ("103 Early Hints", "Transfer-Encoding: gzip", .close(.doubtfulFraming)),
            ("103 Early Hints", "Content-Length: 0", .reusable),
        ]
    )
    func announcedContent(status: String, field: String, verdict: ReuseVerdict) throws {
        var reader = ResponseReader()
        for expected in [verdict, .reusable] {
            reader.begin(.get)
            let head = "HTTP/1.1 \(status)\r\n\(expected == verdict ? field : "A: b")\r\n\r\n"
            let step = try reader.next(Array(head.utf8).span)
            if case .interim = step.event {
                _ = try reader.next(Array("HTTP/1.1 204 No Content\r\n\r\n".utf8).span)
            }
            #expect(reader.reuse == expected)
        }
    }

    @Test("Bytes before `begin` and after the end of a response are not consumed")
    func bytesOutsideAnExchange() throws {
        var reader = ResponseReader()
        guard case .end = try reader.next(Self.small.span).event else {
            Issue.record("an idle reader read")
            return
        }
        reader.begin(.get)
        try Self.expectOK(&reader)
        let step = try reader.next(Self.small.span)
        #expect(step.used == 0)
        #expect(reader.reuse == .reusable)
    }

    @Test("After a fault, the reader repeats the same error and the connection closes")
    func faultPersists() {
        var reader = ResponseReader()
        reader.begin(.get)
        let bad = Array("nonsense".utf8)
        #expect(throws: HTTP1Error.notHTTP) { try reader.next(bad.span) }
        #expect(throws: HTTP1Error.notHTTP) { try reader.next(Self.small.span) }
        #expect(throws: HTTP1Error.notHTTP) { try reader.endOfInput(clean: true) }
        #expect(reader.reuse == .close(.failed))
    }

    @Test("The end of input before any byte is a different error from the end within a head")
    func emptyAndTruncated() {
        for (input, fault) in [("", HTTP1Error.closedBeforeResponse), ("H", .truncatedHead)] {
            var reader = ResponseReader()
            reader.begin(.get)
            #expect(throws: Never.self) { try reader.next(Array(input.utf8).span) }
            #expect(reader.hasStarted == !input.isEmpty)
            #expect(throws: fault) { try reader.endOfInput(clean: true) }
        }
    }

    @Test("The end of input is no error while the reader awaits no response")
    func endWhileIdle() throws {
        var reader = ResponseReader()
        guard case .end = try reader.endOfInput(clean: false) else {
            Issue.record("an idle reader waits for something")
            return
        }
        reader.begin(.get)
        try Self.expectOK(&reader)
        guard case .end = try reader.endOfInput(clean: false) else {
            Issue.record("a finished reader waits for something")
            return
        }
        #expect(reader.reuse == .reusable)
    }

    /// Eight times the bytes would cost a quadratic scan 64 times as much. Processor time of this thread is
    /// compared, which others on the machine do not change.
    @Test("A head that arrives byte by byte costs linear time")
    func slowHeadIsLinear() throws {
        _ = try cost(ofHeadWith: 10_000)
        let (short, long) = (try cost(ofHeadWith: 50_000), try cost(ofHeadWith: 400_000))
        #expect(long < short * 24, "\(short) ns became \(long) ns")
    }

    /// Nanoseconds for a head with two lines of that length, which comes byte by byte.
    private func cost(ofHeadWith long: Int) throws -> UInt64 {
        let head = Array("HTTP/1.1 200 OK\r\nA: \(String(repeating: "x", count: long))\r\n".utf8)
        let names = Array("\(String(repeating: "N", count: long)): x\r\nContent-Length: 0\r\n\r\n".utf8)
        let input = head + names
        var limits = HTTP1Limits()
        limits.headBytes = 3 * long
        limits.lineBytes = 2 * long
        var reader = ResponseReader(limits: limits)
        reader.begin(.get)
        let start = processorTime()
        for end in 1..<input.count {
            guard case .needsMore = try reader.next(input.span.extracting(0..<end)).event else {
                Issue.record("something came of \(end) bytes")
                return 0
            }
        }
        guard case .head(let read) = try reader.next(input.span).event else {
            Issue.record("no head")
            return 0
        }
        #expect(read.headers.count == 3)
        return processorTime() - start
    }

    private func processorTime() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    @Test("A forbidden byte in a head is refused, wherever in a line it is")
    func bytesOfAHead() {
        for byte in UInt8.min...UInt8.max {
            let isText = byte == 9 || byte >= 32 && byte != 127
            let isToken = Character(Unicode.Scalar(byte)).isTokenCharacter
            for place in 0...20 {
                let text = Array(repeating: UInt8(0x61), count: place) + [byte, 0x61]
                for tail in [0, 30] {
                    let value = Self.outcome("HTTP/1.1 200 OK\r\nA: b", text, ": x\r\n", tail)
                    #expect((value == nil) == isText, "\(byte) at \(place) of a value")
                    let reason = Self.outcome("HTTP/1.1 200 ", text, "\r\n", tail)
                    #expect((reason == nil) == isText, "\(byte) at \(place) of a reason")
                    let name = Self.outcome("HTTP/1.1 200 OK\r\nN", text, ": x\r\n", tail)
                    #expect((name == nil) == (isToken || byte == 0x3a), "\(byte) at \(place) of a name")
                }
            }
        }
    }

    /// The fault of a head that is made of these parts, and perhaps has more bytes behind it.
    private static func outcome(_ before: String, _ text: [UInt8], _ after: String, _ tail: Int)
        -> HTTP1Error?
    {
        let input =
            Array(before.utf8) + text + Array((after + "\r\n").utf8) + Array(repeating: 0x2e, count: tail)
        var reader = ResponseReader()
        reader.begin(.head)
        do throws(HTTP1Error) {
            _ = try reader.next(input.span)
            return nil
        } catch {
            return error
        }
    }

    @Test("A head that is the same as the last one gives the same result")
    func repeatedHead() throws {
        var reader = ResponseReader()
        for method in [HTTPMethod.get, .head, .get] {
            reader.begin(method)
            let step = try reader.next(Self.small.span)
            guard case .head(let head) = step.event else {
                Issue.record("no head")
                return
            }
            #expect(head.headers == ["Content-Length": "2"])
            #expect(head.reason == "OK")
            #expect(step.used == Self.small.count - 2)
            #expect(reader.framing == (method == .head ? .none : .length(2)))
        }
    }

    @Test("A head that differs from the last one in one byte gives the result of a fresh reader")
    func nearlyRepeatedHead() throws {
        for place in 0..<(Self.small.count - 2) {
            for byte: UInt8 in [0x31, 0x58] {
                var changed = Self.small
                changed[place] = byte
                var reader = ResponseReader()
                reader.begin(.get)
                _ = try reader.next(Self.small.span)
                reader.begin(.get)
                let second = Self.words(try? reader.next(changed.span).event)
                var fresh = ResponseReader()
                fresh.begin(.get)
                #expect(second == Self.words(try? fresh.next(changed.span).event), "\(place)")
            }
        }
    }

    @Test("A head that the caller keeps is not overwritten by the next one")
    func keptHead() throws {
        var reader = ResponseReader()
        var kept: [ResponseHead] = []
        for letter in ["a", "b", "c"] {
            reader.begin(.head)
            let input = Array("HTTP/1.1 200 \(letter)\r\nX: \(letter)\r\n\r\n".utf8)
            guard case .head(let head) = try reader.next(input.span).event else {
                Issue.record("no head")
                return
            }
            if letter != "c" { kept.append(head) }
        }
        #expect(kept.map(\.reason) == ["a", "b"])
        #expect(kept.map { $0.headers["x"] } == ["a", "b"])
    }

    private static func words(_ event: ResponseReader.Event?) -> String {
        switch event {
        case .head(let head)?: "\(head.status) \(head.version) \(head.reason) \(head.headers.map { $0 })"
        case nil: "fault"
        default: "other"
        }
    }

    private static func expectOK(_ reader: inout ResponseReader) throws(HTTP1Error) {
        let head = try reader.next(small.span)
        guard case .head(let read) = head.event else {
            Issue.record("no head")
            return
        }
        #expect(read.status == .ok)
        let content = try reader.next(small.span.extracting(head.used..<small.count))
        guard case .content(let range) = content.event else {
            Issue.record("no content")
            return
        }
        #expect(range == 0..<2)
        let end = try reader.next(small.span.extracting(small.count..<small.count))
        guard case .end = end.event else {
            Issue.record("no end")
            return
        }
    }
}

extension Character {
    /// As RFC 9110, section 5.6.2 lists them.
    fileprivate var isTokenCharacter: Bool {
        isASCII && (isLetter || isNumber || "!#$%&'*+-.^_`|~".contains(self))
    }
}
