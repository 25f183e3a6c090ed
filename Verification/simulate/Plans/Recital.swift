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
        for (_, names) in SequenceVector.names.sorted(by: { $0.key < $1.key }) {
            for _ in 0..<2 {
                guard let vector = SequenceVector.all[dice.one(of: names)] else { continue }
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
struct NameVector {
    let name, certificate, identity: String
    private let expect: JSON

    static let all = Dictionary(
        // Clients of worlds override no fault.
        uniqueKeysWithValues: ReplyVector.read("names").filter { $0.members["accept"] == nil }
            .map { NameVector($0) }.map { ($0.name, $0) }
    )
    static let names = all.keys.sorted()
    private static let folder = "Fixtures/certificates"
    static let root = (try? FixtureCertificate.load("root", from: folder).der) ?? []

    private init(_ vector: JSON) {
        (name, certificate) = (vector.name.text ?? "", vector.certificate.text ?? "")
        (identity, expect) = (vector.identity.text ?? "", vector.expect)
    }

    var isAccepted: Bool { expect.verdict.text == "accept" }
    var isWrongName: Bool { expect.reason.text == "wrongName" }
    /// The address that is asked for instead of a name.
    var address: IPAddress? { IPAddress(identity) }
    var url: String { "https://" + (identity.contains(":") ? "[\(identity)]" : identity) + "/" }

    /// Whether it is right that the client names this server.
    func isNamed(_ name: String?) -> Bool {
        expect.members["serverName"] == nil || name?.lowercased() == expect.serverName.text?.lowercased()
    }

    /// The certificate that the server sends.
    func load() -> FixtureCertificate {
        do throws(FixtureError) { return try FixtureCertificate.load(certificate, from: Self.folder) } catch {
            fatalError("\(error)")
        }
    }
}
