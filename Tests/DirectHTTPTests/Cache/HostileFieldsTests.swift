@testable import DirectCore
import DirectHTTP1
import DirectTestCommands
@testable import DirectTransport
import Testing

@testable import DirectHTTP

/// A cache computes with numbers that a caller or a server has written.
@Suite("Numbers in fields for the cache", .idleLimit)
struct HostileFieldsTests {
    private static let numbers = [
        "", "-", ".", "0", "00", "-0", "1", "1.", "1.000", "1.001", "0.5", "0.5555", "0.\u{663}", "0.٣", "-1",
        "+1",
        "1e99", "2147483647", "2147483648", "4294967296", "9223372036854776", "9223372036854775",
        "9223372036854775807",
        "-9223372036854775808", "9223372036854775808", "18446744073709551616",
        String(repeating: "9", count: 400),
    ]

    @Test("No weight is too large, too small or too long", arguments: numbers)
    func weights(number: String) {
        for name in ["Accept", "Accept-Encoding", "Accept-Language", "Accept-Charset"] {
            let headers = HTTPHeaders([(name: name, value: "a;q=\(number), b;q=0.1, c;q=\(number);q=0.2, d")])
            #expect(VaryFields(headers: headers, defaults: HTTPHeaders())[name.lowercased()] != nil)
        }
    }

    @Test("Valid weights order a list, otherwise the order of the list counts")
    func order() {
        func meaning(_ value: String) -> String? {
            VaryFields(headers: ["Accept": value], defaults: HTTPHeaders())["accept"]
        }
        #expect(meaning("a;q=0.5, b;q=0.75") == meaning("b;q=0.75, a;q=0.5"))
        #expect(meaning("a;q=0, b") == meaning("b, a;q=0"))
        #expect(meaning("a;q=1., b;q=0.1") == meaning("b;q=0.1, a;q=1."))
        #expect(meaning("a;q=1.001, b") != meaning("b, a;q=1.001"))
        #expect(meaning("a;q=2, b;q=9") != meaning("b;q=9, a;q=2"))
        #expect(meaning("a;q=0.5555, b") != meaning("b, a;q=0.5555"))
    }

    @Test("No number in a field crashes the process", arguments: numbers)
    func fields(number: String) async throws {
        let origin = HTTPHeaders([
            (name: "Vary", value: "Accept, Accept-Encoding"), (name: "ETag", value: "\"a\""),
            (name: "Age", value: number), (name: "Expires", value: number), (name: "Date", value: number),
            (name: "Strict-Transport-Security", value: "max-age=\(number)"),
            (name: "Set-Cookie", value: "a=1; Max-Age=\(number); Expires=\(number)"),
            (
                name: "Cache-Control",
                value: "max-age=\(number), stale-while-revalidate=\(number), stale-if-error=\(number)"
            ),
        ])
        let request = HTTPHeaders([
            (name: "Accept", value: "a;q=\(number)"), (name: "Range", value: "bytes=\(number)-\(number)"),
            (name: "If-Modified-Since", value: number),
            (
                name: "Cache-Control",
                value: "max-age=\(number), min-fresh=\(number), max-stale=\(number), stale-if-error=\(number)"
            ),
        ])
        let client = HTTPClient {
            $0.cache = .memory()
            $0.cookies = CookieJar()
            $0.hsts = HSTSStore()
            $0.transport = { try Response(to: $0, 200, headers: origin, body: [1, 2, 3]) }
        }
        for headers in [request, HTTPHeaders(), request] {
            #expect(try await client.get("https://a.test/", headers: headers).body.count <= 3)
        }
    }
}
