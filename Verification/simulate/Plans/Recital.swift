internal import DirectCore
internal import DirectTLS
internal import FoundationEssentials
internal import TLSFixtures

extension Plan {
    /// Calls get and make what many vectors say, with clients that have the settings of those.
    mutating func recite(_ dice: inout Dice) {
        calmDown()
        (client.proxy, client.resolving, client.hedging) = (.none, .map, nil)
        (client.keepsCookies, client.caches, client.addsUserBelowCache) = (false, false, false)
        (client.connections, client.usesPerConnection, client.idleTimeout) = (nil, nil, 1_000_000_000)
        (client.perOrigin, client.decoding, client.hasOwnSecret) = (nil, .both, false)
        kernel?.clock = nil
        let whole = HostPlan(isSecure: dice.chance(50))
        hosts = [whole, HostPlan(isSecure: !whole.isSecure), HostPlan()]
        calls = []
        for _ in 0..<14 {
            var call = CallPlan(host: dice.below(2), isOnLoop: dice.chance(50))
            let name = dice.one(of: dice.chance(15) ? ReplyVector.specialNames : ReplyVector.names)
            guard let vector = ReplyVector.all[name] else { continue }
            (call.vector, call.isAlone, call.start) = (name, vector.isSpecial, dice.below(20) * 1000)
            (call.kind, call.reading) = (vector.method == "HEAD" ? .head : .get, .pieces)
            call.replies = [ReplyPlan(ending: .closes)]
            calls.append(call)
        }
        for topic in SequenceVector.Topic.allCases {
            for _ in 0..<2 {
                guard let name = SequenceVector.names[topic].map({ dice.one(of: $0) }),
                    let vector = SequenceVector.all[name]
                else { continue }
                play(vector, &dice, isTroubled: false)
                calls[calls.count - 1].isAlone = true
            }
        }
        for name in Set((0..<5).map { _ in dice.one(of: NameVector.names) }).sorted() { prove(name, &dice) }
    }

    private mutating func prove(_ name: String, _ dice: inout Dice) {
        let others = calls.compactMap { $0.proof.flatMap { NameVector.all[$0]?.address } }
        guard let vector = NameVector.all[name], !others.contains(where: { $0 == vector.address })
        else { return }
        hosts.append(HostPlan(isSecure: true, tickets: dice.below(3), isOldTLS: dice.chance(30)))
        calls.append(CallPlan(host: hosts.count - 1, isOnLoop: dice.chance(50), proof: name, isAlone: true))
    }
}

/// A vector of the topic `names`: a certificate, and a name that it proves or does not.
struct NameVector: Decodable {
    let name, certificate, identity: String
    private let expect: Expectation

    private struct Expectation: Decodable {
        let verdict: String
        let reason: Reason?
        let serverName: String?
        /// Whether the name is judged; without one, none must be sent.
        let isNamed: Bool

        enum Members: CodingKey { case verdict, reason, serverName }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Members.self)
            verdict = try members.decode(String.self, forKey: .verdict)
            reason = try members.decodeIfPresent(Reason.self, forKey: .reason)
            serverName = try members.decodeIfPresent(String.self, forKey: .serverName)
            isNamed = members.contains(.serverName)
        }
    }

    /// A word, or any of a list.
    private struct Reason: Decodable {
        let words: [String]

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            words = try (try? [value.decode(String.self)]) ?? value.decode([String].self)
        }
    }

    static let all = Dictionary(
        uniqueKeysWithValues: ReplyVector.read("names", as: NameVector.self).map { ($0.name, $0) }
    )
    static let names = all.keys.sorted()
    private static let folder = "Fixtures/certificates"
    static let root = (try? FixtureCertificate.load("root", from: folder).der) ?? []

    var isAccepted: Bool { expect.verdict == "accept" }
    var isWrongName: Bool { expect.reason?.words == ["wrongName"] }
    /// Whether it is right that the client names this server.
    func isNamed(_ name: String?) -> Bool {
        !expect.isNamed || name?.lowercased() == expect.serverName?.lowercased()
    }
    /// The address that is asked for instead of a name.
    var address: IPAddress? { IPAddress(identity) }
    var url: String { "https://" + (identity.contains(":") ? "[\(identity)]" : identity) + "/" }

    /// The certificate that the server sends.
    func load() -> FixtureCertificate {
        do throws(FixtureError) { return try FixtureCertificate.load(certificate, from: Self.folder) } catch {
            fatalError("\(error)")
        }
    }
}
