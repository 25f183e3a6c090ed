@testable import DirectCore
import DirectHTTP
import DirectTestCommands
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Forms", .idleLimit)
struct FormTests {
    @Test("A form escapes all but letters, digits and *-._, and writes spaces as +")
    func percentRules() {
        let all = String(decoding: (0x20..<0x7f).map { UInt8($0) }, as: UTF8.self)
        let expected =
            "+%21%22%23%24%25%26%27%28%29*%2B%2C-.%2F0123456789%3A%3B%3C%3D%3E%3F%40ABCDEFGHIJKLMNOPQRSTUVWXYZ"
            + "%5B%5C%5D%5E_%60abcdefghijklmnopqrstuvwxyz%7B%7C%7D%7E"
        #expect(encoded([("", all)]) == "=" + expected)
    }

    @Test(
        "A form consists of names and values in UTF-8",
        arguments: [
            ([], ""),
            ([("a", "b")], "a=b"),
            ([("a", ""), ("", "")], "a=&="),
            ([("a&b", "c=d"), ("a&b", "x y")], "a%26b=c%3Dd&a%26b=x+y"),
            ([("é", "€\u{1f600}")], "%C3%A9=%E2%82%AC%F0%9F%98%80"),
            ([("line", "1\r\n2\0\u{7f}")], "line=1%0D%0A2%00%7F"),
        ] as [([(String, String)], String)]
    )
    func fields(fields: [(String, String)], expected: String) {
        #expect(encoded(fields) == expected)
    }

    @Test("A form is sent with its content type, unless the request has its own")
    func contentType() async throws {
        let server = try FixtureServer.start {
            .text("\($0.headers["content-type"] ?? "none") \(try $0.text)")
        }
        let client = HTTPClient.untimed()
        let form = RequestBody.form(["a": "1", "a": "2 3"])
        #expect(
            try await client.post(server.http(), form).text == "application/x-www-form-urlencoded a=1&a=2+3"
        )
        let own = try await client.post(server.http(), form, headers: ["content-TYPE": "text/x-form"])
        #expect(own.text == "text/x-form a=1&a=2+3")
        #expect(try await client.post(server.http(), .bytes([49])).text == "none 1")
        #expect(try await client.post(server.http(), .text("é")).text == "text/plain; charset=utf-8 é")
        #expect(try await client.post(server.http(), .text("é", contentType: nil)).text == "none é")
        let typed = HTTPClient.untimed { $0.headers = ["Content-Type": "application/json"] }
        #expect(try await typed.post(server.http(), .text("{}")).text == "application/json {}")
    }

    @Test("A body of OPTIONS has a content type in any case, and no other request gets one from nowhere")
    func optionsType() async throws {
        let server = try FixtureServer.start { .text($0.headers["content-type"] ?? "none") }
        let client = HTTPClient.untimed()
        func type(_ method: HTTPMethod, _ body: RequestBody, _ headers: HTTPHeaders = [:]) async throws
            -> String
        {
            let request = Request(method, server.http(), headers: headers, body: body)
            return try await client.fetch(request).text ?? "no text"
        }
        #expect(try await type(.options, .bytes([49])) == "application/octet-stream")
        #expect(try await type(.options, .bytes([49]), ["Content-Type": "text/x"]) == "text/x")
        #expect(try await type(.options, .none) == "none")
        #expect(try await type(.put, .bytes([49])) == "none")
    }

    private func encoded(_ fields: [(String, String)]) -> String {
        String(decoding: formEncoded(fields.map { (name: $0.0, value: $0.1) }), as: UTF8.self)
    }
}
