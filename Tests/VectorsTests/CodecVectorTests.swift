import Testing

@testable import tls_fixtures

@Suite("The vectors of the codec")
struct CodecVectorTests {
    @Test("of responses say the same whole, byte by byte, and cut in two anywhere")
    func responses() async throws {
        var count = 0
        for case .response(let vector) in try VectorFolder(fixtures: checkedInFixtures).vectors {
            await Task.yield()
            #expect(vector.differences() == [], "\(vector.head.name)")
            count += 1
        }
        #expect(count >= 300)
    }

    @Test("of requests are written as they say, or refused")
    func requests() throws {
        var count = 0
        for case .request(let vector) in try VectorFolder(fixtures: checkedInFixtures).vectors {
            #expect(vector.differences() == [], "\(vector.head.name)")
            count += 1
        }
        #expect(count >= 150)
    }

    @Test("of cookies hold for a jar")
    func cookies() throws {
        var count = 0
        for case .cookies(let vector) in try VectorFolder(fixtures: checkedInFixtures).vectors {
            #expect(vector.differences() == [], "\(vector.head.name)")
            count += 1
        }
        #expect(count >= 80)
    }
}
