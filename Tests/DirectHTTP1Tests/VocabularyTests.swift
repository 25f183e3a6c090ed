import DirectHTTP1
import Testing

@Suite struct MethodTests {
    @Test func `Known names are the known methods, however they come`() {
        #expect(Method(validating: "GET") == .get)
        #expect(("DELETE" as Method) == .delete)
        #expect(Method(validating: "get") != .get)
        #expect(Method.patch.description == "PATCH")
        #expect((Method(validating: "PURGE")?.description) == "PURGE")
    }

    @Test func `What is not a token is no method`() {
        for text in ["", "A B", "A\r\n", "GÉT", "A:", "\u{0}"] {
            #expect(Method(validating: text) == nil)
        }
    }

    @Test func `Safe and idempotent are as RFC 9110 says`() {
        #expect([Method.get, .head, .options, .trace].allSatisfy { $0.isSafe && $0.isIdempotent })
        #expect([Method.put, .delete].allSatisfy { !$0.isSafe && $0.isIdempotent })
        #expect([Method.post, .patch, .connect, "PURGE"].allSatisfy { !$0.isSafe && !$0.isIdempotent })
    }
}

@Suite struct StatusTests {
    @Test func `Three digits are a status`() {
        #expect(Status(code: 100)?.code == 100)
        #expect(Status(code: 999)?.code == 999)
        #expect(Status(code: 99) == nil)
        #expect(Status(code: 1000) == nil)
        #expect(Status(code: -200) == nil)
        #expect((404 as Status) == .notFound)
        #expect(Status.ok < .notFound)
        #expect("\(Status.ok)" == "200")
    }

    @Test func `The first digit is the class`() {
        #expect(Status.continue.isInformational && !Status.ok.isInformational)
        #expect(Status.noContent.isSuccess && !Status.found.isSuccess)
        #expect(Status.found.isRedirection && !Status.notFound.isRedirection)
        #expect(Status.notFound.isClientError && !Status.badGateway.isClientError)
        #expect(Status.badGateway.isServerError && !(Status(code: 600)?.isServerError ?? true))
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
