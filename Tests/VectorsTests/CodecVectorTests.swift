import Testing

@testable import tls_fixtures

@Suite("The vectors of the codec")
struct CodecVectorTests {
    @Test("A response has the same result whole, byte by byte, and cut in two anywhere")
    func responses() async throws {
        var count = 0
        for case .response(let vector) in try VectorFolder(fixtures: checkedInFixtures).vectors {
            await Task.yield()
            #expect(vector.differences() == [], "\(vector.head.name)")
            count += 1
        }
        #expect(count >= 300)
    }

    @Test("A request is written as the vector says, or refused")
    func requests() throws {
        var count = 0
        for case .request(let vector) in try VectorFolder(fixtures: checkedInFixtures).vectors {
            #expect(vector.differences() == [], "\(vector.head.name)")
            count += 1
        }
        #expect(count >= 150)
    }

    @Test("The vectors of cookies pass for a jar")
    func cookies() throws {
        var count = 0
        for case .cookies(let vector) in try VectorFolder(fixtures: checkedInFixtures).vectors {
            #expect(vector.differences() == [], "\(vector.head.name)")
            count += 1
        }
        #expect(count >= 80)
    }

    @Test("The vectors of decoding pass, cut anywhere, where the libraries that they need are")
    func decoding() async throws {
        var count = 0
        for case .decoding(let vector) in try VectorFolder(fixtures: checkedInFixtures).vectors
        where vector.missing == nil {
            await Task.yield()
            #expect(vector.differences() == [], "\(vector.head.name)")
            count += 1
        }
        #expect(count >= 50)
    }
}
