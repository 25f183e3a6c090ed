import DirectHTTPJSON
import DirectTestCommands
import Foundation
import TLSFixtures
import Testing

@Suite("JSON in bodies", .idleLimit)
struct JSONBodyTests {
    private struct Point: Codable, Equatable {
        var x: Int
        var name: String
    }

    @Test("A value is sent as JSON with its type, also after a redirect, and decoded from the response")
    func roundTrip() async throws {
        let server = try FixtureServer.start { request in
            let body = try request.text
            guard request.path == "/to" else { return .redirect(to: "/to", status: 307) }
            return .text(body, ["X-Type": request.headers["content-type"] ?? ""])
        }
        let point = Point(x: 7, name: "é\"\n")
        let response = try await HTTPClient().post("http://\(server.authority)/from", .json(point))
        #expect(try response.decode() == point && response.decode(Point.self) == point)
        #expect(response.headers["X-Type"] == "application/json" && response.history.count == 1)
    }

    @Test("The JSON that came with an error is decoded, and a part of it is the decoder's error")
    func refusal() async throws {
        let server = try FixtureServer.start { _ in .text(#"{"x": 7, "name": "full"}"#, status: 422) }
        let url = "http://\(server.authority)/"
        for (limit, isWhole) in [(65_536, true), (5, false)] {
            do {
                try await HTTPClient().get(url).requiringSuccess(keeping: limit)
                Issue.record("422 is no success")
            } catch let error as HTTPError {
                let response = try #require(error.response)
                #expect((try? response.decode(Point.self)) == (isWhole ? Point(x: 7, name: "full") : nil))
                #expect(response.text?.count == (isWhole ? 24 : 5))
            }
        }
    }

    @Test("The data of an event is decoded as JSON, and what is none is the decoder's error")
    func event() throws {
        let event = ServerSentEvent(data: #"{"x": 7, "name": "é"}"#)
        #expect(try event.decode() == Point(x: 7, name: "é") && event.decode(Point.self).x == 7)
        #expect(throws: DecodingError.self) { try ServerSentEvent(data: "[DONE]").decode(Point.self) }
    }

    @Test("Encoder and decoder are the caller's, and what is no JSON is the decoder's error")
    func coders() async throws {
        let server = try FixtureServer.start { request in
            .text(request.method == "GET" ? "<html>" : try request.text)
        }
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = .sortedKeys
        struct Names: Encodable { var someName = 1 }
        let url = "http://\(server.authority)/"
        #expect(try await HTTPClient().put(url, .json(Names(), encoder: encoder)).text == #"{"some_name":1}"#)
        let page = try await HTTPClient().get(url)
        #expect(throws: DecodingError.self) { try page.decode(Point.self) }
        #expect(throws: EncodingError.self) { try RequestBody.json(Double.infinity) }
    }
}
