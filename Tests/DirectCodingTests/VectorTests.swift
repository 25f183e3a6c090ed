import Testing

@testable import DirectCoding

@Suite("The decoding vectors")
struct VectorTests {
    @Test("A vector gives the same result whole, byte by byte, and cut in two anywhere")
    func everySplit() async throws {
        let vectors = try DecodingVector.load()
        #expect(vectors.count >= 150)
        var left = 0
        for vector in vectors {
            await Task.yield()
            guard vector.canRun else {
                left += 1
                continue
            }
            let whole = vector.run()
            guard vector.expects(whole) else {
                Issue.record("\(vector.name): \(whole.summary)")
                continue
            }
            let count = vector.input.bytes.count
            let isLarge = count > 400 || vector.expect.content?.bytes.count ?? 0 > 20_000
            let bytewise = vector.run(cutAt: stride(from: 1, to: count, by: 1))
            if !vector.expects(bytewise) { Issue.record("\(vector.name), byte by byte: \(bytewise.summary)") }
            for cut in stride(from: 1, to: count, by: isLarge ? count / 8 + 1 : 1) {
                let halves = vector.run(cutAt: [cut])
                if !vector.expects(halves) {
                    Issue.record("\(vector.name), cut at \(cut): \(halves.summary)")
                }
            }
        }
        // Without the traits some cannot be run; with them, all can.
        #expect((left == 0) == (ContentCoding.available.count == 4), "\(left) are left out")
    }

    @Test("Each vector has a unique name, a reason and a reference")
    func heads() throws {
        let vectors = try DecodingVector.load()
        #expect(Set(vectors.map(\.name)).count == vectors.count)
        for vector in vectors {
            #expect(!vector.why.isEmpty && !vector.why.contains("\n"), "\(vector.name)")
            #expect(
                vector.reference.hasPrefix("RFC ") || vector.reference.hasPrefix("CVE-"),
                "\(vector.name)"
            )
        }
    }
}

extension Decoded {
    /// Not all of a large content.
    var summary: String {
        switch self {
        case .content(let content): "\(content.count) bytes, \(content.prefix(40))"
        case .fault(let error): "\(error.label): \(error)"
        case .raw: "raw"
        }
    }
}
