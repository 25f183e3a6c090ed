internal import DirectCore
internal import DirectHTTP

/// Which resolvers lead to an address that failed, and so whose users get the bad server.
struct ResolverVerdict {
    let replies: HostReplies
    let address: IPAddress

    /// The resolvers that give the address, if others give addresses but not this one. `nil` if all that
    /// answered do.
    private var some: [String]? {
        let givers = replies.givers(of: address)
        let answering = replies.replies.filter { !$0.addresses.isEmpty }
        return givers.isEmpty || givers.count == answering.count ? nil : givers
    }

    /// Adds to the hint of a failed record whose users get its address.
    func complete(_ record: inout ProbeRecord) {
        guard let some, let fault = record.faults.first else { return }
        let who: HintText = "nly users of \(Self.list(some)) get \(.ip)"
        let words = record.hint.map { $0.words + ". O" + who } ?? "o" + who
        record.hint = Hint(kind: fault.id, words: words, place: record.hintPlace)
    }

    static func list(_ names: [String]) -> String {
        names.count < 2
            ? names.joined() : names.dropLast().joined(separator: ", ") + " and \(names[names.count - 1])"
    }
}
