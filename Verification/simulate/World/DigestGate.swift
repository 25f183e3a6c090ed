internal import DirectCore
internal import DirectTLS

/// A server's check of digests (RFC 7616), shared by all addresses of its host; or that of a proxy.
final class DigestGate {
    private unowned let world: World
    private let plan: HostPlan.Digest
    private let name, user, secret: String
    /// The field of the answers.
    private let field: String
    /// Whether it accepts any answer.
    private let isOpen: Bool
    /// The counts that were used with each nonce, and the connection of each.
    private var nonces: [String: [String: SimulatedConnection]] = [:]

    init(_ world: World, host: Int, _ plan: HostPlan.Digest) {
        (self.world, self.plan) = (world, plan)
        (name, user, secret) = (world.name(host), World.user(ofHost: host), world.secret(ofHost: host))
        (field, isOpen) = ("authorization", true)
    }

    /// Creates the check of the proxy.
    init(_ world: World, _ login: PeerPlan.Login) {
        (self.world, plan) = (world, login.digest)
        (name, user, secret) = (Material.proxyName, World.proxyUser, World.proxySecret)
        (field, isOpen) = ("proxy-authorization", login.isAccepted)
    }

    /// Returns the challenge for a request; `nil` if it may pass.
    func challenge(
        for head: ReceivedHead,
        target: String,
        call number: Int,
        on connection: SimulatedConnection
    ) -> String? {
        let value = head.value(of: field) ?? ""
        if plan.isBasic { return basicChallenge(for: value) }
        if value.reveals(secret) { return nil }
        guard value.hasPrefix("Digest ") else { return newChallenge(isStale: false) }
        world.kernel.count("judge: digest")
        let fields = Self.fields(of: value)
        guard fields["username"] == user, fields["realm"] == realm,
            let nonce = fields["nonce"], let used = nonces[nonce]
        else {
            world.fault("secrets", "\(name) got \(value)")
            return newChallenge(isStale: false)
        }
        let isRight = fields["response"] == answer(fields, method: head.method, nonce: nonce)
        if !isRight || fields["uri"] != target {
            world.fault("digest", "the answer of call \(number) is wrong: \(value)")
        }
        let count = fields["nc"] ?? "\(used.count)"
        // A request is sent again as it is if its connection was dead before, as far as the client can tell.
        if let earlier = used[count], earlier.isOpenForClient || earlier === connection {
            world.fault("digest", "count \(count) of a nonce comes twice")
        }
        nonces[nonce]?[count] = connection
        guard isOpen else { return newChallenge(isStale: false) }
        if let uses = plan.uses, used.count >= uses {
            world.kernel.count("fault: nonce is stale")
            return newChallenge(isStale: true)
        }
        return nil
    }

    /// Returns the challenge for a request without the password.
    private func basicChallenge(for value: String) -> String? {
        world.kernel.count("judge: login with Basic")
        if isOpen, value == "Basic " + Base64.encode(Array("\(user):\(secret)".utf8)) || value.reveals(secret)
        {
            return nil
        }
        return "Basic realm=\"\(realm)\""
    }

    private var realm: String { "realm of \(name)" }

    private func newChallenge(isStale: Bool) -> String {
        world.kernel.count("server: digest challenge")
        let nonce = "nonce-\(name)-\(nonces.count)"
        nonces[nonce] = [:]
        return "Digest realm=\"\(realm)\", nonce=\"\(nonce)\", algorithm=\(plan.algorithm)"
            + (plan.isOld ? "" : ", qop=\"auth\"") + (isStale ? ", stale=true" : "")
    }

    private func answer(_ fields: [String: String], method: String, nonce: String) -> String {
        func hash(_ text: String) -> String {
            let digest: MessageDigest = plan.algorithm.hasPrefix("MD5") ? .md5 : .sha256
            return Hex.encode(digest.digest(of: Array(text.utf8)) ?? [])
        }
        let (login, clientNonce) = (hash("\(user):\(realm):\(secret)"), fields["cnonce"] ?? "")
        let secret =
            plan.algorithm.hasSuffix("-sess") ? hash("\(login):\(nonce):\(clientNonce)") : login
        let subject = hash("\(method):\(fields["uri"] ?? "")")
        if plan.isOld { return hash("\(secret):\(nonce):\(subject)") }
        return hash("\(secret):\(nonce):\(fields["nc"] ?? ""):\(clientNonce):auth:\(subject)")
    }

    private static func fields(of value: String) -> [String: String] {
        var fields: [String: String] = [:]
        for part in value.dropFirst("Digest ".count).split(separator: ",") {
            let pair = part.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            if pair.count == 2 { fields[String(pair[0])] = pair[1].filter { $0 != "\"" } }
        }
        return fields
    }
}

extension World {
    /// The user that logs in at a host. Only that host may see the name.
    static func user(ofHost host: Int) -> String { "user-of-host\(host)" }

    /// The gate of a host; `nil` if it asks for nothing.
    func gate(ofHost host: Int) -> DigestGate? {
        guard let digest = plan.hosts[host].digest else { return nil }
        if let gate = gates[host] { return gate }
        let gate = DigestGate(self, host: host, digest)
        gates[host] = gate
        return gate
    }
}
