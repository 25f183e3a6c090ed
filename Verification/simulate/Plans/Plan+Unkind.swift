/// Servers and callers that do at one time what others do at several.
extension Plan {
    /// A generator of its own leaves all else as it is.
    mutating func beUnkind() {
        var dice = Dice(seed: seed ^ 0x0B_AD5E)
        for call in calls.indices {
            if calls[call].download != nil { moveStarts(ofCall: call, &dice) }
        }
        cutKeptResponses(&dice)
        addResponses(&dice)
        pause(&dice)
        let mayResolve = [.resolver, .cachingResolver].contains(client.resolving) && resolvers == nil
        if [.http, .https].contains(client.proxy), mayResolve {
            client.resolvesForProxy = dice.chance(70)
        }
    }

    /// A part that begins later follows one that has broken off.
    private mutating func moveStarts(ofCall call: Int, _ dice: inout Dice) {
        for place in calls[call].replies.indices.dropFirst() {
            let isMoved = [.otherStart, .shorter, .tooLong].contains(calls[call].replies[place].rangeFault)
            guard isMoved, dice.chance(50) else { continue }
            calls[call].replies[place].rangeFault = .laterStart
            calls[call].replies[place - 1].ending = .breaksOff
        }
    }

    /// What follows a response is another one.
    private mutating func addResponses(_ dice: inout Dice) {
        for call in calls.indices where calls[call].download == nil {
            for place in calls[call].replies.indices
            where calls[call].replies[place].ending == .addsBytes && dice.chance(60) {
                guard calls[call].replies[place].emptyMembers == nil,
                    !calls[call].replies[place].hasNoContent
                else { continue }
                calls[call].replies[place].ending = .addsResponse
                // With less, the next request would be written over it in the client's buffer.
                (calls[call].replies[place].size, calls[call].replies[place].framing) = (300, .length)
            }
        }
    }

    /// Some who read slowly pause for longer than the limit of reading.
    private mutating func pause(_ dice: inout Dice) {
        guard let limit = client.readLimit else { return }
        for call in calls.indices where calls[call].reading == .slowly && dice.chance(60) {
            guard calls[call].total == nil, calls[call].cancellation == nil else { continue }
            calls[call].readingPause = limit + dice.one(of: [20_000, 100_000])
        }
    }

    /// Of what a cache may keep, the chunks break off more often than the length.
    private mutating func cutKeptResponses(_ dice: inout Dice) {
        guard client.caches else { return }
        for call in calls.indices where calls[call].resource != nil {
            for place in calls[call].replies.indices
            where calls[call].replies[place].ending == .breaksOff && dice.chance(70) {
                calls[call].replies[place].framing = .chunked
                calls[call].replies[place].lifetime = 60
            }
        }
    }
}
