import DirectHTTP1
import DirectTestData
import Testing

@testable import tls_fixtures

/// The vectors' inputs, changed at random from a fixed seed: nothing crashes, and cuts never matter.
@Suite("Random responses and fields")
struct CodecFuzzTests {
    #if DEBUG
    private static let rounds = 20_000
    #else
    private static let rounds = 200_000
    #endif

    @Test("Mutated responses never crash, and are read the same wherever they are cut")
    func mutatedResponses() async throws {
        let seeds = try VectorFolder(fixtures: checkedInFixtures).vectors
            .compactMap { vector in if case .response(let vector) = vector { vector.bytes } else { nil } }
            .filter { $0.input.count < 400 }
        var random = SplitMix64(seed: 0x5eed)
        var outcomes: Set<String> = []
        for _ in 0..<Self.rounds {
            await Task.yield()
            var exchange = seeds[random.below(seeds.count)]
            exchange.hasCleanEnd = random.below(2) == 0
            for _ in 0...random.below(4) { Self.mutate(&exchange.input, with: seeds, &random) }
            let whole = exchange.read(cutAt: [])
            let cuts = (0..<random.below(6)).map { _ in random.below(exchange.input.count + 1) }.sorted()
            if exchange.read(cutAt: cuts) != whole {
                Issue.record("\(exchange.input) cut at \(cuts) reads differently")
                return
            }
            outcomes.insert(String(whole.outcome.prefix { $0 != " " }))
        }
        // The mutations must reach most of what can go wrong, or they prove nothing.
        #expect(outcomes.count > 25, "\(outcomes)")
    }

    @Test("Random fields are refused or written so that they are read back unchanged")
    func randomFields() throws {
        var random = SplitMix64(seed: 0xf1e1d5)
        var written = 0
        for _ in 0..<Self.rounds / 4 {
            var headers = HTTPHeaders()
            for _ in 0..<random.below(4) {
                headers.add(random.text(like: "X-Name"), random.text(like: "a value, of some length"))
            }
            guard let head = Self.write(headers) else { continue }
            written += 1
            #expect(Self.fields(in: head) == headers.map { "\($0.name): \($0.value)" })
        }
        #expect(written > 1000)
    }

    private static func mutate(
        _ input: inout [UInt8],
        with seeds: [ResponseBytes],
        _ random: inout SplitMix64
    ) {
        let place = random.below(input.count + 1)
        switch random.below(6) {
        case 0 where place < input.count: input[place] = UInt8(random.below(256))
        case 1 where place < input.count: input.remove(at: place)
        case 2: input.insert(random.pick([0, 9, 10, 13, 32, 44, 48, 58, 59, 127, 128]), at: place)
        case 3: input.insert(contentsOf: [13, 10], at: place)
        case 4: input.removeLast(input.count - place)
        default:
            let other = random.pick(seeds).input
            input.insert(contentsOf: other.suffix(random.below(other.count + 1)), at: place)
        }
    }

    private static func write(_ headers: HTTPHeaders) -> [UInt8]? {
        let head = RequestHead(.get, target: [0x2f], authority: [0x61], headers: headers)
        return try? written(head.sizeBound) { buffer throws(HTTP1Error) in
            try unsafe RequestWriter.writeHead(head, framing: .none, into: buffer)
        }
    }

    /// The lines between Host and the empty line, split at CR LF alone: an injected one would show.
    private static func fields(in head: [UInt8]) -> [String] {
        let text = String(decoding: head, as: UTF8.self)
        return text.unicodeScalars.split(separator: "\n")
            .map { line in String(String.UnicodeScalarView(line.filter { $0 != "\r" })) }
            .filter { !$0.isEmpty }
            .dropFirst(2).map { $0 }
    }
}

extension SplitMix64 {
    fileprivate mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[below(elements.count)]
    }

    /// The text, often with a character put in that does not belong.
    fileprivate mutating func text(like text: String) -> String {
        var scalars = Array(text.unicodeScalars.prefix(1 + below(text.count)))
        if below(4) == 0 {
            scalars.insert(pick(["\r", "\n", "\0", ":", " ", "é", "\u{7f}", "\t"]), at: below(scalars.count))
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
