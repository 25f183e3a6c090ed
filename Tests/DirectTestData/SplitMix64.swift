/// Random numbers (SplitMix64), the same in every run: a test that fails with one seed fails with it again.
package struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to, but not including, `bound`.
    package mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// As many bytes as `count` says, each less than `bound`.
    package mutating func bytes(_ count: Int, below bound: Int = 256) -> [UInt8] {
        (0..<count).map { _ in UInt8(below(bound)) }
    }
}

extension [UInt8] {
    /// Changes, inserts, removes or doubles one byte.
    package mutating func mutate(with alphabet: [UInt8], using random: inout SplitMix64) {
        let place = Int.random(in: 0...count, using: &random)
        let byte = alphabet.randomElement(using: &random) ?? 0
        switch Int.random(in: 0..<4, using: &random) {
        case 0 where place < count: self[place] = byte
        case 1 where place < count: remove(at: place)
        case 2 where place < count: insert(self[place], at: place)
        default: insert(byte, at: place)
        }
    }
}
