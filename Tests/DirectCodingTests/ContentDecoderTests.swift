import DirectTestData
import Testing

@testable import DirectCoding

@Suite("The decoder of content")
struct ContentDecoderTests {
    private func fed(_ bytes: [UInt8], _ codings: [ContentCoding] = [.gzip]) -> ContentDecoder {
        let decoder = ContentDecoder(undoing: codings, within: DecodingLimits(ratio: nil))
        decoder.feed(bytes)
        return decoder
    }

    private func piece(_ decoder: ContentDecoder) throws -> [UInt8]? {
        if case .piece(let piece) = try decoder.next() { piece } else { nil }
    }

    @Test("The decoder returns at most one piece for each call")
    func onDemand() throws {
        let decoder = fed(deflated([UInt8](repeating: 0, count: 10 << 20)))
        decoder.endInput()
        for count in 1...3 {
            #expect(try piece(decoder)?.count == ContentDecoder.pieceSize)
            #expect(decoder.decodedBytes == UInt64(count * ContentDecoder.pieceSize))
        }
    }

    #if Zstd
    @Test(
        "A zstd frame whose content has another size than it announces is refused, also with an empty last block"
    )
    func zstdOfAnotherSize() throws {
        // A single segment with a size of two bytes, a raw block, and an empty last one.
        func frame(announcing size: Int, _ content: [UInt8]) -> [UInt8] {
            let (field, header) = (size - 256, content.count << 3)
            let start = [0x28, 0xB5, 0x2F, 0xFD, 0x60, UInt8(field & 255), UInt8(field >> 8)]
            return start + [UInt8(header & 255), UInt8(header >> 8), 0] + content + [1, 0, 0]
        }
        let content = [UInt8](repeating: 65, count: 500)
        let good = frame(announcing: 500, content)
        for cuts in [[], Array(1..<10), Array(1..<600)] {
            #expect(decode(good + good, ["zstd"], cutAt: cuts) == .content(content + content))
            let fault = decode(good + frame(announcing: 1000, content), ["zstd"], cutAt: cuts)
            #expect(fault == .fault(.corrupt(.zstd, detail: "a frame announces another size")))
        }
    }
    #endif

    @Test("The decoder returns the output of its input before it asks for more")
    func promptness() throws {
        // A stored block that is not the last: all of it is known once it is there.
        let decoder = ContentDecoder(undoing: [.deflate])
        guard case .needsInput = try decoder.next() else { throw Unexpected() }
        decoder.feed([0x78, 0x01, 0x00, 3, 0, 0xFC, 0xFF] + Array("abc".utf8))
        #expect(try piece(decoder) == Array("abc".utf8))
        guard case .needsInput = try decoder.next() else { throw Unexpected() }
        #expect(decoder.wireBytes == 10 && decoder.decodedBytes == 3)
    }

    @Test(
        "A small content in memory takes exactly its own size",
        arguments: [0, 1, 63, 64, 1000, 40_000, 65_536, 65_537]
    )
    func exactMemory(count: Int) throws {
        let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }
        let decoder = fed(deflated(content))
        decoder.endInput()
        var all: [UInt8] = []
        while let piece = try piece(decoder) {
            #expect(piece.capacity <= max(128, piece.count + 64))
            all += piece
        }
        #expect(all == content)
        guard case .end = try decoder.next() else { throw Unexpected() }
    }

    @Test("A wrong size at the end of gzip is only a hint", arguments: [UInt8(0), 1, 0xFF])
    func falseHint(byte: UInt8) throws {
        let content = (0..<5000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        var coded = deflated(content)
        coded.replaceSubrange((coded.count - 4)..., with: [byte, byte, byte, byte])
        let outcome = decode(coded, ["gzip"])
        guard case .fault(.corrupt(.gzip, let detail)) = outcome else { throw Unexpected() }
        #expect(detail == "incorrect length check")
    }

    @Test("Random content is decoded from pieces of random size, with one coding or several")
    func randomContent() async throws {
        var random = SplitMix64(seed: 7)
        for _ in 0..<40 {
            await Task.yield()
            let letters = UInt8.random(in: 1...255, using: &random)
            let content = (0..<Int.random(in: 0...200_000, using: &random)).map { _ in
                UInt8.random(in: 0...letters, using: &random)
            }
            var coded = content, encodings: [String] = []
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let (bits, name) = [(31, "gzip"), (15, "deflate"), (-15, "deflate")].randomElement(
                    using: &random
                )!
                coded = deflated(
                    coded,
                    windowBits: Int32(bits),
                    level: Int32.random(in: 0...9, using: &random)
                )
                encodings.append(name)
            }
            let cuts = (0..<Int.random(in: 0...30, using: &random)).map { _ in
                Int.random(in: 0...coded.count, using: &random)
            }
            let decoded = decode(coded, encodings, DecodingLimits(ratio: nil), cutAt: cuts.sorted())
            #expect(decoded == .content(content), "\(encodings)")
        }
    }

    @Test("A bomb is refused before much more is decoded than needs no check of the ratio")
    func bomb() throws {
        let bomb = deflated([UInt8](repeating: 0, count: 64 << 20), level: 9)
        let decoder = ContentDecoder(undoing: [.gzip])
        decoder.feed(bomb)
        #expect(throws: CodingError.ratioTooHigh(limit: 200)) {
            while try piece(decoder) != nil {}
        }
        #expect(decoder.decodedBytes <= 1 << 20)
    }

    private struct Unexpected: Error {}
}
