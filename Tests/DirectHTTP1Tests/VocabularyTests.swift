import DirectHTTP1
import Testing

@Suite("Methods")
struct MethodTests {
    @Test("A method is equal to a known one if its name is the same, in the same case")
    func knownMethods() {
        #expect(HTTPMethod(validating: "GET") == .get)
        #expect(("DELETE" as HTTPMethod) == .delete)
        #expect(HTTPMethod(validating: "get") != .get)
        #expect(HTTPMethod.patch.description == "PATCH")
        #expect((HTTPMethod(validating: "PURGE")?.description) == "PURGE")
    }

    @Test("A text that is not a token is no method")
    func notATokenNotAMethod() {
        for text in ["", "A B", "A\r\n", "GÉT", "A:", "\u{0}"] {
            #expect(HTTPMethod(validating: text) == nil)
        }
    }

    @Test("Methods are safe and idempotent as RFC 9110 and the registry of methods list them")
    func safeAndIdempotent() {
        #expect([HTTPMethod.get, .head, .options, .trace].allSatisfy { $0.isSafe && $0.isIdempotent })
        #expect([HTTPMethod.put, .delete].allSatisfy { !$0.isSafe && $0.isIdempotent })
        let registered: [HTTPMethod] = ["PROPFIND", "MOVE", "QUERY"]
        #expect(registered.allSatisfy { !$0.isSafe && $0.isIdempotent })
        let others: [HTTPMethod] = [.post, .patch, .connect, "PURGE", "LOCK", "propfind"]
        #expect(others.allSatisfy { !$0.isSafe && !$0.isIdempotent })
    }
}

@Suite("Statuses")
struct StatusTests {
    @Test("A status code has three digits")
    func threeDigits() {
        #expect(HTTPStatus(code: 100)?.code == 100)
        #expect(HTTPStatus(code: 999)?.code == 999)
        #expect(HTTPStatus(code: 99) == nil)
        #expect(HTTPStatus(code: 1000) == nil)
        #expect(HTTPStatus(code: -200) == nil)
        #expect((404 as HTTPStatus) == .notFound)
        #expect(HTTPStatus.ok < .notFound)
        #expect("\(HTTPStatus.ok)" == "200")
    }

    @Test("The first digit of a status is its class")
    func statusClass() {
        #expect(HTTPStatus.continue.isInformational && !HTTPStatus.ok.isInformational)
        #expect(HTTPStatus.noContent.isSuccess && !HTTPStatus.found.isSuccess)
        #expect(HTTPStatus.found.isRedirection && !HTTPStatus.notFound.isRedirection)
        #expect(HTTPStatus.notFound.isClientError && !HTTPStatus.badGateway.isClientError)
        #expect(HTTPStatus.badGateway.isServerError && !(HTTPStatus(code: 600)?.isServerError ?? true))
    }
}

@Suite("Response heads")
struct ResponseHeadTests {
    @Test("A head that is built from parts has these parts")
    func headFromParts() {
        let head = ResponseHead(status: 404, reason: "Not Here", version: .http10, headers: ["A": "b"])
        #expect(head.reason == "Not Here")
        #expect(head.headers == ["A": "b"])
        #expect(ResponseHead(status: 200).reason.isEmpty)
        #expect(ResponseHead(status: 200, reason: "OK").headers.isEmpty)
    }

    @Test("A change to the headers of a head does not change the head")
    func headersOfAHeadAreACopy() throws {
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
