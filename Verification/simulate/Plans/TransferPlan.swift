/// How fast bodies may move, and how much content may decode to nothing.
struct TransferPlan: Codable, Equatable {
    /// The most bytes of bodies that are received and sent in a second.
    var receivingRate: Int?
    var sendingRate: Int?
    /// Whether the limits are those of each request. Otherwise all requests of the client share them.
    var isPerRequest = false
    /// The most content in a row that may decode to nothing.
    var silentContent: Int?
}

extension Plan {
    /// Limits the speed of bodies and silent content, tells callers of progress, and has logins with Basic.
    mutating func limitTransfers(_ dice: inout Dice) {
        var transfers = TransferPlan()
        if dice.chance(40) { transfers.receivingRate = dice.one(of: [20_000, 100_000]) }
        if dice.chance(40) { transfers.sendingRate = dice.one(of: [20_000, 100_000]) }
        transfers.isPerRequest = dice.chance(50)
        if dice.chance(50) { transfers.silentContent = dice.one(of: [400, 2000]) }
        for call in calls.indices {
            calls[call].watchesProgress = dice.chance(60)
            if dice.chance(50) { (calls[call].logsIn, calls[call].carriesSecrets) = (true, false) }
            for reply in calls[call].replies.indices where transfers.silentContent != nil && dice.chance(40) {
                calls[call].replies[reply].emptyMembers = dice.one(of: [5, 300])
                (calls[call].replies[reply].size, calls[call].replies[reply].isCoded) = (0, true)
            }
        }
        client.transfers = transfers
    }
}
