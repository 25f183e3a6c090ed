/// A generator of random numbers from a seed (splitmix64).
///
/// Each kind of decision has a generator of its own, so that one more of one kind does not change others.
struct Dice: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// Returns a number from 0 up to but not including `bound`.
    mutating func below(_ bound: Int) -> Int {
        bound <= 1 ? 0 : Int(truncatingIfNeeded: next() % UInt64(bound))
    }

    /// Returns a number of the range.
    mutating func number(in range: ClosedRange<Int>) -> Int {
        range.lowerBound + below(range.count)
    }

    /// Returns true in so many of a hundred cases.
    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    /// Returns one of the values.
    mutating func one<Value>(of values: [Value]) -> Value { values[below(values.count)] }

    /// Returns a generator for a purpose of its own.
    mutating func fork(_ purpose: UInt64) -> Dice {
        Dice(seed: next() ^ (purpose &* 0xD6E8_FEB8_6659_FD93))
    }
}
