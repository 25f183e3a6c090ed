import DirectHTTP1
import Testing

@Suite struct MethodTests {
    @Test func `Known names are the known methods, however they come`() {
        #expect(HTTPMethod(validating: "GET") == .get)
        #expect(("DELETE" as HTTPMethod) == .delete)
        #expect(HTTPMethod(validating: "get") != .get)
        #expect(HTTPMethod.patch.description == "PATCH")
        #expect((HTTPMethod(validating: "PURGE")?.description) == "PURGE")
    }

    @Test func `What is not a token is no method`() {
        for text in ["", "A B", "A\r\n", "GÉT", "A:", "\u{0}"] {
            #expect(HTTPMethod(validating: text) == nil)
        }
    }

    @Test func `Safe and idempotent are as RFC 9110 says`() {
        #expect([HTTPMethod.get, .head, .options, .trace].allSatisfy { $0.isSafe && $0.isIdempotent })
        #expect([HTTPMethod.put, .delete].allSatisfy { !$0.isSafe && $0.isIdempotent })
        #expect([HTTPMethod.post, .patch, .connect, "PURGE"].allSatisfy { !$0.isSafe && !$0.isIdempotent })
    }
}

@Suite struct StatusTests {
    @Test func `Three digits are a status`() {
        #expect(HTTPStatus(code: 100)?.code == 100)
        #expect(HTTPStatus(code: 999)?.code == 999)
        #expect(HTTPStatus(code: 99) == nil)
        #expect(HTTPStatus(code: 1000) == nil)
        #expect(HTTPStatus(code: -200) == nil)
        #expect((404 as HTTPStatus) == .notFound)
        #expect(HTTPStatus.ok < .notFound)
        #expect("\(HTTPStatus.ok)" == "200")
    }

    @Test func `The first digit is the class`() {
        #expect(HTTPStatus.continue.isInformational && !HTTPStatus.ok.isInformational)
        #expect(HTTPStatus.noContent.isSuccess && !HTTPStatus.found.isSuccess)
        #expect(HTTPStatus.found.isRedirection && !HTTPStatus.notFound.isRedirection)
        #expect(HTTPStatus.notFound.isClientError && !HTTPStatus.badGateway.isClientError)
        #expect(HTTPStatus.badGateway.isServerError && !(HTTPStatus(code: 600)?.isServerError ?? true))
    }
}

@Suite struct ResponseHeadTests {
    @Test func `A head that is made has what it was made of`() {
        let head = ResponseHead(status: 404, reason: "Not Here", version: .http10, headers: ["A": "b"])
        #expect(head.reason == "Not Here")
        #expect(head.headers == ["A": "b"])
        #expect(ResponseHead(status: 200).reason.isEmpty)
        #expect(ResponseHead(status: 200, reason: "OK").headers.isEmpty)
    }

    @Test func `Fields taken from a head can be changed without changing it`() throws {
        var reader = ResponseReader()
        reader.begin(.get)
        let bytes = Array("HTTP/1.1 200 Fine\r\nA: b\r\n\r\n".utf8)
        guard case .head(let head) = try reader.next(bytes.span).event else {
            Issue.record("there is no head")
            return
        }
        var headers = head.headers
        headers["A"] = "c"
        headers.add("D", "e")
        #expect(headers == ["A": "c", "D": "e"])
        #expect(head.headers == ["A": "b"])
        #expect(head.reason == "Fine")
    }
}
