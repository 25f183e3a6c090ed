extension FuzzTarget {
    /// The pool of connections, as a model.
    ///
    /// - After any operations (check out, finish a dial, check in, release, leave the queue, sweep) it has
    ///   the connections, the places and the queue that simple books have, and has given each connection,
    ///   each permission to dial and each turn to the one whose turn it was (`PoolWalk` lists the rules).
    /// - When all requests have ended, no connection and no place is left.
    static let pool = FuzzTarget(name: "pool") { choices in
        var walk = PoolWalk(random: ChosenNumbers(choices))
        while !walk.random.isEmpty, walk.fault == nil { walk.step() }
        if walk.fault == nil { walk.finish() }
        requireEqual(walk.fault, nil, "the pool and the books")
    }
}

/// Random numbers that the input chooses, one byte for each. The byte is in the highest bits, from which
/// Swift makes a number below a limit, and its lowest bit is bit 17, from which `Bool.random` makes its
/// result. The bits between are never so small that Swift would ask for another number.
private struct ChosenNumbers: RandomNumberGenerator {
    private var choices: Choices
    var isEmpty: Bool { choices.isEmpty }

    init(_ choices: Choices) {
        self.choices = choices
    }

    mutating func next() -> UInt64 {
        let byte = UInt64(choices.number(below: 256))
        return byte << 56 | 0x00AA_AAAA_AAA8_AAAA | (byte & 1) << 17
    }
}
