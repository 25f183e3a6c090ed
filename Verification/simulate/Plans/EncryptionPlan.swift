internal import TLSFixtures

/// How the names of secure hosts are encrypted (Encrypted Client Hello).
struct EncryptionPlan: Codable, Equatable {
    /// Whether the client's configurations are those of keys that no server has any more. Each server then
    /// names its own under a certificate for the public name.
    var isStale = false
}

/// Worlds with it are drawn where OpenSSL can do it; without, the same seed makes the same world as ever.
extension Plan {
    /// Encrypts the names of all secure hosts, so that no name is ever due in clear text: without TLS 1.2,
    /// and without settings that forbid the certificate for both names.
    mutating func encryptNames() {
        var dice = Dice(seed: seed ^ 0xEC4)
        guard FixtureECHKey.isSupported, dice.chance(20), hosts.contains(where: \.isSecure) else { return }
        encryption = EncryptionPlan(isStale: dice.chance(50))
        client.isOldTLS = false
        for host in hosts.indices {
            hosts[host].isOldTLS = false
            for address in hosts[host].addresses.indices { hosts[host].addresses[address].list = nil }
        }
        for call in calls.indices where [.oldVersion, .rightPin, .wrongPin].contains(calls[call].tls) {
            calls[call].tls = nil
        }
    }
}
