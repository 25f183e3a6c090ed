import Testing

@testable import DirectCoding

@Suite("Content codings")
struct ContentCodingTests {
    @Test(
        "A coding is known by its name, in any case",
        arguments: [ContentCoding.gzip, .deflate, .brotli, .zstd]
    )
    func names(_ coding: ContentCoding) {
        #expect(ContentCoding(name: coding.name) == coding)
        #expect(ContentCoding(name: coding.name.uppercased()) == coding)
    }

    @Test("A coding has one old name and no other aliases")
    func aliases() {
        #expect(ContentCoding(name: "X-Gzip") == .gzip)
        #expect(ContentCoding(name: "gzip2") == nil)
        #expect(ContentCoding(name: "") == nil)
    }
}
