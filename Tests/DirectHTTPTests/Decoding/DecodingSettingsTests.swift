@testable import DirectCore
import DirectTestCommands
@testable import DirectTransport
import DirectTestData
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("A client's settings for coded content", .idleLimit)
struct DecodingSettingsTests {
    /// Grows by some 40 to 1 when it is decoded: between the limit that is set here and the default.
    private static let content: [UInt8] = {
        var random = SplitMix64(seed: 1)
        return random.bytes(2000) + [UInt8](repeating: 0, count: 98_000)
    }()

    private func server() throws -> FixtureServer {
        let coded = deflated(Self.content)
        return try FixtureServer.start { _ in .bytes(coded, ["Content-Encoding": "gzip"]) }
    }

    @Test("The setting `codings` chooses the codings that are requested")
    func codings() async throws {
        let server = try FixtureServer.start { .text($0.headers["accept-encoding"] ?? "none") }
        let client = HTTPClient { $0.decoding.codings = [.deflate] }
        #expect(try await client.get(server.http()).text == "deflate")
    }

    @Test("The setting `maximumSize` bounds the decoded bytes")
    func maximumSize() async throws {
        let server = try server()
        let error = try await httpError {
            try await HTTPClient { $0.decoding.maximumSize = 99_999 }.get(server.http())
        }
        guard case .coding(.tooLarge(limit: 99_999)) = error.reason else { throw error }
        let client = HTTPClient { $0.decoding.maximumSize = 100_000 }
        #expect(try await client.get(server.http()).body == Self.content)
    }

    @Test("The setting `maximumRatio` bounds the growth of content beyond `unratedSize`")
    func maximumRatio() async throws {
        let server = try server()
        func client(_ size: UInt64) -> HTTPClient {
            HTTPClient {
                $0.decoding.maximumRatio = 10
                $0.decoding.unratedSize = size
            }
        }
        let error = try await httpError { try await client(50_000).get(server.http()) }
        guard case .coding(.ratioTooHigh(limit: 10)) = error.reason else { throw error }
        #expect(try await client(200_000).get(server.http()).body == Self.content)
    }

    @Test("The setting `maximumCodings` bounds how many codings are undone")
    func maximumCodings() async throws {
        let coded = deflated(deflated(Array("hello".utf8)))
        let server = try FixtureServer.start { _ in .bytes(coded, ["Content-Encoding": "gzip, gzip"]) }
        let error = try await httpError {
            try await HTTPClient { $0.decoding.maximumCodings = 1 }.get(server.http())
        }
        guard case .coding(.tooManyCodings(limit: 1)) = error.reason else { throw error }
        #expect(try await HTTPClient().get(server.http()).text == "hello")
    }
}
