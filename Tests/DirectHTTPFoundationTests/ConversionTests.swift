import DirectHTTP
import DirectHTTPFoundation
import Foundation
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Conversions")
struct ConversionTests {
    @Test("A URLRequest converts to a Request and back without loss")
    func aRequestGoesThereAndBack() throws {
        var original = URLRequest(url: try #require(URL(string: "https://user:pass@www.example:8443/a?b#c")))
        original.httpMethod = "PUT"
        original.httpBody = Data("body".utf8)
        original.setValue("1", forHTTPHeaderField: "X-One")
        original.httpShouldHandleCookies = false
        let request = Request(original)
        #expect(request.method == .put)
        #expect(try request.url.text == "https://user:pass@www.example:8443/a?b#c")
        #expect(request.headers["x-one"] == "1")

        let back = try #require(URLRequest(request))
        #expect(back.url == original.url)
        #expect(back.httpMethod == "PUT")
        #expect(back.httpBody == original.httpBody)
        #expect(back.value(forHTTPHeaderField: "X-One") == "1")
        #expect(!back.httpShouldHandleCookies)
    }

    @Test(
        "What is escaped in a URL stays as it is where Foundation needs another character to be escaped",
        arguments: [
            ("http://a.test/?f[name]=J%C3%BCrgen", "http://a.test/?f%5Bname%5D=J%C3%BCrgen"),
            ("http://a.test/?sig=a%2Fb%3D&t=100%", "http://a.test/?sig=a%2Fb%3D&t=100%25"),
            ("http://a.test/a|b%7C?{x}^=%26#%23[1]#", "http://a.test/a%7Cb%7C?%7Bx%7D%5E=%26#%23%5B1%5D%23"),
            ("http://[::1]:81/%26[?[%26]", "http://[::1]:81/%26%5B?%5B%26%5D"),
            ("http://a.test/%2F%zz%2?n=%26%", "http://a.test/%2F%25zz%252?n=%26%25"),
            ("http://a.test/it's?(%27)", "http://a.test/it's?(%27)"),
        ]
    )
    func escapes(_ text: String, _ shown: String) throws {
        #expect(URL(try HTTPURL(text))?.absoluteString == shown)
    }

    @Test("Several Cookie fields become one, in which no comma joins them")
    func cookies() throws {
        var request = Request(.get, "http://www.example/", headers: ["Cookie": "a=1", "X": "y"])
        request.headers.add("cookie", "b=2")
        let converted = try #require(URLRequest(request))
        #expect(converted.value(forHTTPHeaderField: "Cookie") == "a=1; b=2")
        #expect(converted.value(forHTTPHeaderField: "X") == "y")
    }

    @Test("A request with a body stream or without a valid URL does not convert to a URLRequest")
    func aBodyThatIsNotInMemoryHasNoWayBack() throws {
        let stream = InputStream(data: Data("x".utf8))
        #expect(URLRequest(Request(.post, "http://www.example/", body: .stream(stream))) == nil)
        #expect(URLRequest(Request(.get, "no URL")) == nil)
    }

    @Test("A converted request has no fields that the client writes itself")
    func fieldsThatTheClientWritesItselfAreLeftOut() throws {
        var original = URLRequest(url: try #require(URL(string: "http://www.example/")))
        for name in ["Content-Length", "connection", "Transfer-Encoding"] {
            original.setValue("7", forHTTPHeaderField: name)
        }
        #expect(Request(original).headers.isEmpty)
    }

    @Test("A cookie converts to HTTPCookie and back without loss")
    func aCookieGoesThereAndBack() throws {
        for (coversSubdomains, isSecure) in [(false, false), (true, true)] {
            let cookie = try Cookie(
                "name",
                "value",
                for: DirectHTTP.HTTPHost("www.shop.example"),
                coversSubdomains: coversSubdomains,
                path: "/in",
                expiry: UnixTime(seconds: 4_000_000_000),
                isSecure: isSecure
            )
            let foundation = try #require(HTTPCookie(cookie))
            #expect(foundation.domain == (coversSubdomains ? ".www.shop.example" : "www.shop.example"))
            #expect(Cookie(foundation) == cookie)
        }
    }

    @Test("A cookie for a public suffix does not convert")
    func aCookieForAPublicSuffixIsNone() throws {
        let cookie = try #require(
            HTTPCookie(properties: [.name: "a", .value: "b", .domain: ".co.uk", .path: "/"])
        )
        #expect(Cookie(cookie) == nil)
    }

    @Test("A converted response has its URL, its status and its fields joined by name")
    func responsesHaveTheirURLAndFoldedFields() throws {
        let response = try Response(
            to: Request(.get, "http://www.example/a"),
            404,
            headers: ["Vary": "A", "vary": "B", "Content-Type": "text/plain; charset=utf-8"]
        )
        let head = try #require(HTTPURLResponse(response))
        #expect(head.url?.absoluteString == "http://www.example/a")
        #expect(head.statusCode == 404)
        #expect(head.value(forHTTPHeaderField: "Vary") == "A, B")
        #expect(head.mimeType == "text/plain" && head.textEncodingName == "utf-8")
    }

    @Test("Fields of one name are joined in their order, whatever their spelling, in both kinds of responses")
    func severalFieldsOfOneName() async throws {
        let client = HTTPClient.untimed {
            $0.transport = { request in
                var headers: HTTPHeaders = ["Via": "1.1 a", "vary": "A"]
                for (name, value) in [("Via", "1.1 b"), ("VARY", "B"), ("vary", "C"), ("Via", "1.1 c")] {
                    headers.add(name, value)
                }
                return try Response(to: request, 203, headers: headers)
            }
        }
        let request = Request(.get, "http://www.example/a?b")
        let heads = [
            HTTPURLResponse(try await client.send(request)), HTTPURLResponse(try await client.fetch(request)),
        ]
        for head in heads {
            #expect(head?.value(forHTTPHeaderField: "Via") == "1.1 a, 1.1 b, 1.1 c")
            #expect(head?.value(forHTTPHeaderField: "Vary") == "A, B, C")
            #expect(head?.statusCode == 203 && head?.url?.absoluteString == "http://www.example/a?b")
        }
    }
}
