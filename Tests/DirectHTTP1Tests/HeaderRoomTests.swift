import DirectHTTP1
import DirectTestData
import Testing

@Suite("Memory of header fields")
struct HeaderRoomTests {
    @Test("A field that is replaced again and again takes no more room than once")
    func replaced() {
        var headers: HTTPHeaders = ["A": "first", "X-Request-Id": "start", "B": "last"]
        headers["X-Request-Id"] = "0123456789abcdef"
        let bound = headSizeBound(headers)
        for _ in 0..<10_000 { headers["X-Request-Id"] = "0123456789abcdef" }
        #expect(headSizeBound(headers) == bound)
        #expect(Array(headers).map(\.value) == ["first", "last", "0123456789abcdef"])
    }

    @Test("Fields that are added and removed leave no room behind")
    func removed() {
        var headers = HTTPHeaders()
        for round in 0..<1_000 {
            for number in 0..<5 { headers.add("Name-\(number)", "\(round)") }
            for number in 0..<5 { headers.remove("name-\(number)") }
        }
        #expect(headers.isEmpty && headSizeBound(headers) == headSizeBound([:]))
    }

    @Test(
        "Fields of a received head are replaced without growth, and the head does not change",
        arguments: [
            "\r\n", "\n",
        ]
    )
    func received(lineEnd: String) throws {
        let text = ["HTTP/1.1 200 All good", "A:1", "B: \t 2 ", "C: 3", "D:", "", ""].joined(
            separator: lineEnd
        )
        let head = try Self.head(text)
        var headers = head.headers
        headers["b"] = "4"
        let bound = headSizeBound(headers)
        for _ in 0..<1_000 { headers["b"] = "4" }
        #expect(headSizeBound(headers) <= bound)
        #expect(headers == ["A": "1", "C": "3", "D": "", "b": "4"])
        #expect(head.headers == ["A": "1", "B": "2", "C": "3", "D": ""])
        #expect(head.reason == "All good")
    }

    @Test("Headers that change at random hold the same fields as a list, and no room for more")
    func random() throws {
        var random = SplitMix64(seed: 0x4ead)
        for _ in 0..<300 {
            var headers = try Self.start(&random)
            var list = Array(headers)
            for _ in 0..<40 {
                Self.change(&headers, &list, &random)
                #expect(Array(headers) == list)
            }
            for field in list { headers.remove(field.name) }
            #expect(headers.isEmpty)
        }
    }

    @Test("The remaining fields are written unchanged after others were removed")
    func written() throws {
        for gone in 0..<8 {
            var headers: HTTPHeaders = ["A": "1", "B": "22", "C": "333"]
            let names = ["A", "B", "C"]
            for (index, name) in names.enumerated() where gone >> index & 1 == 1 { headers.remove(name) }
            headers.add("D", "4")
            let lines = headers.map { "\($0.name): \($0.value)\r\n" }.joined()
            let head = String(decoding: try writtenHead(headers), as: UTF8.self)
            #expect(head == "GET / HTTP/1.1\r\nHost: a\r\n\(lines)\r\n")
        }
    }

    private static func change(
        _ headers: inout HTTPHeaders,
        _ list: inout [HTTPHeaders.Field],
        _ random: inout SplitMix64
    ) {
        // Every other time another value shares the memory while it changes.
        let before = Array(headers)
        let copy = Bool.random(using: &random) ? headers : nil
        defer { if let copy { #expect(Array(copy) == before) } }
        let name = ["A", "Bb", "Ccc", "dddd"].randomElement(using: &random) ?? ""
        let value = String(repeating: "v", count: Int.random(in: 0..<30, using: &random))
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            headers.add(name, value)
            list.append(.init(name: name, value: value))
        case 1:
            headers[name] = value
            list.removeAll { $0.name.lowercased() == name.lowercased() }
            list.append(.init(name: name, value: value))
        default:
            headers.remove(name)
            list.removeAll { $0.name.lowercased() == name.lowercased() }
        }
    }

    /// Fields that were built, or received, or have a reason between them.
    private static func start(_ random: inout SplitMix64) throws -> HTTPHeaders {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return ["A": "1", "Bb": "2"]
        case 1: return try head("HTTP/1.1 200 OK then\nA:1\nbb: 2\nX: 3\na:4\n\n").headers
        default: return ResponseHead(status: .ok, reason: "Because", headers: ["A": "1", "Bb": "2"]).headers
        }
    }

    private static func head(_ text: String) throws -> ResponseHead {
        var leniency = HTTP1Leniency()
        leniency.acceptsBareLineFeeds = true
        var reader = ResponseReader(leniency: leniency)
        reader.begin(.get)
        let input = Array(text.utf8)[...]
        guard case .head(let head) = try reader.next(input.span).event else { throw HTTP1Error.truncatedHead }
        return head
    }
}
