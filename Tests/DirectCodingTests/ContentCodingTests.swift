import Testing

@testable import DirectCoding

@Suite("Content codings")
struct ContentCodingTests {
    @Test("are known by their names, in any case", arguments: [ContentCoding.gzip, .deflate, .brotli, .zstd])
    func names(_ coding: ContentCoding) {
        #expect(ContentCoding(name: coding.name) == coding)
        #expect(ContentCoding(name: coding.name.uppercased()) == coding)
    }

    @Test("have one old name, and no others")
    func aliases() {
        #expect(ContentCoding(name: "X-Gzip") == .gzip)
        #expect(ContentCoding(name: "gzip2") == nil)
        #expect(ContentCoding(name: "") == nil)
    }
}
