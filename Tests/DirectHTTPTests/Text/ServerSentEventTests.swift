import DirectTestCommands
import Testing

@testable import DirectHTTP

@Suite("Server-sent events of bodies", .idleLimit)
struct ServerSentEventTests {
    private static func events(_ steps: [HTTPClient.Response.BodyStep], upTo limit: Int = 1 << 20)
        async throws
        -> [ServerSentEvent]
    {
        let client = HTTPClient.untimed {
            $0.transport = { try HTTPClient.Response(to: $0, 200, steps: steps) }
        }
        let body = try await client.send(HTTPClient.Request(.get, "http://a.test/")).body
        var events: [ServerSentEvent] = []
        for try await event in body.events(upTo: limit) { events.append(event) }
        return events
    }

    private static func message(_ data: String, id: String = "", type: String = "message") -> ServerSentEvent
    {
        ServerSentEvent(type: type, data: data, id: id)
    }

    /// The examples of the HTML Standard, section 9.2.6, and others.
    private static let streams: [(String, [ServerSentEvent])] = [
        ("data: YHOO\ndata: +2\ndata: 10\n\n", [message("YHOO\n+2\n10")]),
        (
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
            [message("first event", id: "1"), message("second event"), message(" third event")]
        ),
        ("data\n\ndata\ndata\n\ndata:", [message(""), message("\n")]),
        ("data:test\n\ndata: test\n\n", [message("test"), message("test")]),
        ("event: add\ndata: 73\n\nevent:\ndata: x\n\n", [message("73", type: "add"), message("x")]),
        ("event: add\n\ndata: x\n\n", [message("x")]),
        ("id: 1\n\ndata: x\n\n", [message("x", id: "1")]),
        ("id: 1\ndata: a\n\nid: 2\u{0}\ndata: b\n\n", [message("a", id: "1"), message("b", id: "1")]),
        ("\u{FEFF}data: a\r\n\r\ndata: b\r\rdata: c\n\n", [message("a"), message("b"), message("c")]),
        ("Data: a\n data: b\ndata : c\nfoo: d\n:data: e\n\n", []), ("data: a", []), ("data: a\n", []),
        ("\n\n\n", []),
        ("data: a:b: c\n\n", [message("a:b: c")]), ("data: \u{0}é\u{2028}\n\n", [message("\u{0}é\u{2028}")]),
        ("\u{FEFF}\u{FEFF}data: a\n\n", []),
    ]

    @Test("Streams are read as the HTML Standard says, wherever the pieces are cut", arguments: streams)
    func examples(text: String, events: [ServerSentEvent]) async throws {
        let bytes = Array(text.utf8)
        for cut in 0...bytes.count {
            let found = try await Self.events([.bytes(Array(bytes[..<cut])), .bytes(Array(bytes[cut...]))])
            #expect(found == events)
        }
        #expect(try await Self.events(bytes.map { .bytes([$0]) }) == events)
    }

    @Test(
        "A time to wait is a number of milliseconds, at most a day, and anything else is no time",
        arguments: [
            ("retry: 1500", .milliseconds(1500)), ("retry:0", .zero), ("retry: 1s", nil), ("retry: -1", nil),
            ("retry", nil), ("retry: ", nil), ("retry: +1", nil), ("retry: \u{663}", nil),
            ("retry: 99999999999999999999999", .seconds(86_400)), ("retry: 5\nretry: x", .milliseconds(5)),
        ] as [(String, Duration?)]
    )
    func retry(line: String, retry: Duration?) async throws {
        let events = try await Self.events([.text("\(line)\ndata: a\n\ndata: b\n\n")])
        #expect(events.map(\.retry) == [retry, retry])
    }

    @Test("An event is there when its empty line is")
    func early() async throws {
        let client = HTTPClient.untimed {
            $0.transport = { try HTTPClient.Response(to: $0, 200, steps: [.text("data: a\r\r"), .stall]) }
        }
        var events = try await client.send(HTTPClient.Request(.get, "http://a.test/")).body.events
            .makeAsyncIterator()
        #expect(try await events.next()?.data == "a")
    }

    @Test(
        "A line or an event that is larger than the limit is an error",
        arguments: [
            String(repeating: "data: 1\n", count: 6), "data: 123456789012", ": 12345678901234567890",
            "id: 12345678901234567890",
        ]
    )
    func limits(text: String) async throws {
        let error = try await httpError { try await Self.events([.text(text)], upTo: 11) }
        guard case .eventTooLong(limit: 11) = error.reason else { throw error }
    }

    @Test("Many small events are not larger than the limit")
    func many() async throws {
        let text = String(repeating: "data: 1\n\n", count: 1000)
        #expect(try await Self.events([.text(text)], upTo: 11).count == 1000)
    }

    @Test("An id that no field of a request could hold is ignored")
    func ids() async throws {
        for id in ["\u{1}", "a\u{7F}", "\u{1B}[31m"] {
            #expect(try await Self.events([.text("id: \(id)\ndata: a\n\n")]).map(\.id) == [""])
        }
        #expect(try await Self.events([.text("id: é\t1\ndata: a\n\n")]).map(\.id) == ["é\t1"])
    }
}
