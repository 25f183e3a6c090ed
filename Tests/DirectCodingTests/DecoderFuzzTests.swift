import DirectTestData
import Testing

@testable import DirectCoding

@Suite("Damaged and random streams")
struct DecoderFuzzTests {
    /// The contents of the vectors as seeds, without the bombs.
    private static func seeds() throws -> [DecodingVector] {
        try DecodingVector.load().filter {
            $0.canRun && $0.input.bytes.count < 1000 && !$0.input.bytes.isEmpty
        }
    }

    private static let limits = DecodingLimits(size: 100_000, ratio: 50, unratedSize: 10_000)

    /// Decodes, and looks at nothing but the limits.
    private func run(_ bytes: [UInt8], _ encodings: [String], _ random: inout SplitMix64) {
        let cuts = (0..<Int.random(in: 0...3, using: &random)).map { _ in
            Int.random(in: 0...bytes.count, using: &random)
        }
        let decoded = decode(bytes, encodings, Self.limits, cutAt: cuts.sorted())
        if case .content(let content) = decoded {
            #expect(content.count <= 100_000 && content.count <= max(10_000, bytes.count * 50))
        }
    }

    @Test("A mutated stream never crashes, never hangs and never exceeds the limits")
    func mutations() async throws {
        var random = SplitMix64(seed: 20_260_101)
        for vector in try Self.seeds() {
            await Task.yield()
            for _ in 0..<40 {
                var bytes = vector.input.bytes
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let place = Int.random(in: 0...bytes.count, using: &random)
                    switch Int.random(in: 0..<5, using: &random) {
                    case 0 where place < bytes.count:
                        bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                    case 1 where place < bytes.count: bytes[place] = .random(in: 0...255, using: &random)
                    case 2: bytes.insert(.random(in: 0...255, using: &random), at: place)
                    case 3: bytes.removeLast(bytes.count - place)
                    default: bytes += bytes.prefix(place)
                    }
                }
                run(bytes, vector.encodings, &random)
            }
        }
    }

    @Test("Random bytes are decoded or refused, whatever coding they claim")
    func noise() async {
        var random = SplitMix64(seed: 42)
        let names = ContentCoding.available.map(\.name)
        for round in 0..<2000 {
            await Task.yield()
            let bytes = (0..<Int.random(in: 1...300, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            var encodings = [names[round % names.count]]
            if round % 5 == 0 { encodings.append(names[round / 5 % names.count]) }
            run(bytes, encodings, &random)
        }
    }

    @Test("A stream with one wrong bit is never taken for the right content, if it has a check value")
    func singleBits() throws {
        let content = Array("hello, hello, hello, world of ours".utf8)
        for (bits, name) in [(31, "gzip"), (15, "deflate")] {
            let coded = deflated(content, windowBits: Int32(bits))
            for place in coded.indices {
                for bit in 0..<8 {
                    var damaged = coded
                    damaged[place] ^= 1 << bit
                    guard case .content(let other) = decode(damaged, [name]) else { continue }
                    // Bits of the header that mean nothing may be anything.
                    #expect(other == content, "\(name), byte \(place), bit \(bit)")
                }
            }
        }
    }
}
