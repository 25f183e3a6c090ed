internal import DirectCore
internal import DirectHTTP

/// What one resolver has answered for a host.
struct ResolverReply: Sendable {
    let resolver: String
    /// The addresses, or the reason why there are none.
    let result: Result<[IPAddress], ResolverError>
    /// The time to live in seconds; `nil` if the resolver does not tell.
    let timeToLive: Int?
    let time: Duration

    var addresses: [IPAddress] { (try? result.get()) ?? [] }

    /// The reason why there are no addresses, in words without the name of the resolver.
    var failure: String? {
        guard case .failure(let error) = result else { return nil }
        if case .timedOut(let limit) = error.reason { return "no answer in \(limit.rounded.text)" }
        return Words.lowered("\(error.reason)")
    }
}

/// The replies of all resolvers for one host, in the order of the options.
struct HostReplies: Sendable {
    let host: String
    let replies: [ResolverReply]

    /// All addresses, each once, in the order in which they were first given.
    var addresses: [IPAddress] {
        var all: [IPAddress] = []
        for reply in replies {
            for address in reply.addresses where !all.contains(address) { all.append(address) }
        }
        return all
    }

    /// The names of the resolvers that give this address.
    func givers(of address: IPAddress) -> [String] {
        replies.filter { $0.addresses.contains(address) }.map(\.resolver)
    }
}

extension Duration {
    /// This time limit in tenths of a second, above that: it is what was left of a rounder one.
    fileprivate var rounded: Duration {
        .milliseconds((clampedNanoseconds / 1_000_000 + 99) / 100 * 100)
    }
}
