import DirectHTTP
import DirectHTTPExtras
import DirectTestCommands
import TLSFixtures
import Testing

@Suite("Multipart responses", .idleLimit)
struct MultipartResponseTests {
    private func read(
        _ text: String,
        type: String = "multipart/mixed; boundary=b",
        pieces size: Int = .max,
        upTo limit: Int = 1000,
        count: Int = 10
    ) async throws -> [MultipartPart] {
        var steps: [HTTPClient.Response.BodyStep] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            steps.append(.bytes(Array(rest.prefix(size))))
            rest = rest.dropFirst(size)
        }
        return try await read(steps, type: type, upTo: limit, count: count)
    }

    private func read(
        _ steps: [HTTPClient.Response.BodyStep],
        type: String = "multipart/mixed; boundary=b",
        upTo limit: Int = 1000,
        count: Int = 10
    ) async throws -> [MultipartPart] {
        let client = HTTPClient.untimed {
            $0.transport = { try .init(to: $0, 200, headers: ["Content-Type": type], steps: steps) }
        }
        let response = try await client.send(HTTPClient.Request(.get, "http://a.test/"))
        var parts: [MultipartPart] = []
        for try await part in try response.parts(upTo: limit, count: count) { parts.append(part) }
        return parts
    }

    private static let form =
        "preamble\r\n--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none\r\n--b \t\r\n"
        + "content-disposition: form-data; name=b; filename=\"x;\\\"y\"\r\nX: 1\r\n 2\r\n\r\n\r\n--bb\r\n--\r\n"
        + "--b\r\n\r\n\r\n--b--epilogue\r\n--b\r\n"

    @Test("Parts are found however the bytes arrive", arguments: [1, 2, 3, 5, 7, 11, 1000])
    func parts(pieces: Int) async throws {
        let parts = try await read(Self.form, pieces: pieces)
        #expect(parts.map { String(decoding: $0.body, as: UTF8.self) } == ["one", "\r\n--bb\r\n--", ""])
        #expect(parts.map(\.name) == ["a", "b", nil] && parts[1].fileName == "x;\"y")
        #expect(parts[1].headers["X"] == "1 2" && parts[2].headers.isEmpty)
    }

    @Test("A body with one delimiter has no parts, and byte ranges are parts with a field each")
    func others() async throws {
        #expect(try await read("--b--").isEmpty)
        let ranges = try await read(
            "--x y\r\nContent-Range: bytes 0-1/4\r\n\r\nab\r\n--x y\r\nContent-Range: bytes 3-3/4\r\n\r\nd\r\n--x y--",
            type: "Multipart/ByteRanges; charset=x; boundary=\"x y\""
        )
        #expect(ranges.map { $0.headers["Content-Range"] } == ["bytes 0-1/4", "bytes 3-3/4"])
    }

    @Test("A field of a part that is not UTF-8 is Latin-1, as a field of a response is")
    func latin1() async throws {
        let text =
            "--b\r\nContent-Disposition: form-data; name=a; filename=\"K\u{FC}che\"\r\nX: \u{E9}\r\n \u{E8}\r\n\r\n1\r\n--b--"
        let bytes = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        let parts = try await read([.bytes(bytes)])
        #expect(parts.first?.fileName == "K\u{FC}che" && parts.first?.headers["X"] == "\u{E9} \u{E8}")
    }

    @Test("A part may have 100 lines of fields, each of a field or of a folded one")
    func lines() async throws {
        let parts = try await read(
            "--b\r\nA: b" + String(repeating: "\r\n c", count: 99) + "\r\n\r\nd\r\n--b--"
        )
        #expect(parts.first?.headers["A"]?.utf8.count == 1 + 2 * 99 && parts.first?.body == [0x64])
    }

    private static let faulty: [(String, MultipartError)] = {
        let fields = String(repeating: "A: b\r\n", count: 101)
        let folded = "A: b" + String(repeating: "\r\n c", count: 100)
        let long = String(repeating: "x", count: 1001)
        let lines = String(repeating: "\r\n--bx", count: 1000)
        let many = String(repeating: "--b\r\n\r\n\r\n", count: 12)
        let blanks = String(repeating: " ", count: 2000)
        var faulty: [(String, MultipartError)] = []
        for text in ["", "--b\r\n\r\nx", "--b\r\n\r\nx\r\n--b"] { faulty.append((text, .truncated)) }
        for line in ["no colon", " folded: first", "A b: c", "A: b\nC: d", "A: b\0", ": x", fields, folded] {
            faulty.append(("--b\r\n\(line)\r\n\r\n\r\n--b--", .badFields))
        }
        faulty.append(("--b\r\n--b--", .badFields))
        faulty.append(("--b\r\n\r\n\(long)\r\n--b--", .partTooLarge(limit: 1000)))
        for text in [lines, "--b" + blanks] { faulty.append((text, .partTooLarge(limit: 1000))) }
        faulty.append((many + "--b--", .tooManyParts(limit: 10)))
        return faulty
    }()

    @Test(
        "A body that breaks the rules is an error",
        arguments: faulty
    )
    func faults(body: String, error: MultipartError) async throws {
        for pieces in [1, 64, .max] {
            await #expect(throws: error) { try await read(body, pieces: pieces) }
        }
    }

    @Test(
        "Another type, and a boundary that is none, is an error before anything is read",
        arguments: [
            "text/plain; boundary=b", "multipart/mixed", "multipart/mixed; boundary=",
            "multipart/mixed; boundary=\"a \"",
            "multipart/mixed; boundary=\"a\u{1}\"",
            "multipart/mixed; boundary=" + String(repeating: "x", count: 71),
            "multipartx/mixed; boundary=b",
        ]
    )
    func types(type: String) async throws {
        await #expect(throws: MultipartError.notMultipart) { try await read("--b--", type: type) }
    }

    @Test("A body that fails ends with its error")
    func failing() async throws {
        let client = HTTPClient.untimed {
            $0.transport = {
                try .init(
                    to: $0,
                    200,
                    headers: ["Content-Type": "multipart/mixed; boundary=b"],
                    steps: [.text("--b\r\n\r\nx\r\n--b\r\n"), .failure(HTTPError(.body, .connectionClosed))]
                )
            }
        }
        let response = try await client.send(HTTPClient.Request(.get, "http://a.test/"))
        var parts = 0
        await #expect(throws: HTTPError.self) {
            for try await _ in try response.parts() { parts += 1 }
        }
        #expect(parts == 1)
    }

    @Test(
        "Behind the last part, or an error, the connection is given back while the response is kept",
        arguments: [
            ("--b\r\n\r\nx\r\n--b--", 100), ("--b\r\n\r\nx\r\n--b--", 1_000_000), ("--b\r\n\r\n", 1_000_000),
        ]
    )
    func connection(body: String, rest: Int) async throws {
        let server = try FixtureServer.start { _ in
            let bytes = Array(body.utf8) + Array(repeating: 0x2D, count: rest)
            return .bytes(bytes, ["Content-Type": "multipart/mixed; boundary=b"])
        }
        let client = HTTPClient.untimed()
        let response = try await client.send(HTTPClient.Request(.get, "http://\(server.authority)/"))
        do { for try await _ in try response.parts(upTo: 1000) {} } catch is MultipartError {}
        #expect(client.connections.flatMap(\.connections).allSatisfy { !$0.isBusy })
        #expect(response.status == .ok)
    }
}
