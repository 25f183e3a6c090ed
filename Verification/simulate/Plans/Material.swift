internal import CSimulation
internal import DirectCore
internal import DirectTLS
internal import Glibc
internal import TLSFixtures

/// What all worlds have in common: the certificates and the TLS contexts of their servers.
///
/// Made before the first world, from random numbers with a fixed seed.
final class Material {
    nonisolated(unsafe) static let shared = Material()

    let root: [UInt8]
    /// An authority of no server, and then that of all.
    let rootsPEM: String
    /// An authority of which no server has a certificate.
    let otherRoot = TestAuthority("Other Root").rootDER
    /// The pins of the hosts' keys, and the identities of callers, numbered as their certificates are.
    private(set) var pins: [KeyPin] = []
    let identities: [ClientIdentity]
    /// What the servers of each host staple.
    private(set) var staples: [Int: [HostPlan.Staple: [UInt8]]] = [:]
    private var contexts: [String: UnsafeMutableRawPointer] = [:]
    /// The configurations of the servers' key for Encrypted Client Hello, and those of a key that none has;
    /// `nil` without OpenSSL 4.
    private(set) var configs, staleConfigs: ECHConfigList?
    /// Whether the servers of this world have it.
    private var encryptsNames = false
    private var (seed, sharesTicketKeys) = (UInt64(0), false)
    /// The places of the contexts in the order of their names, and those that have the keys of this world.
    private lazy var numbers = Dictionary(
        uniqueKeysWithValues: contexts.keys.sorted().enumerated().map { ($1, $0) }
    )
    private var renewed: Set<Int> = []

    /// The kinds of certificates that a server of a name may have.
    enum Certificate: String, CaseIterable {
        case valid, otherName, unknownIssuer

        /// The certificate of an address with this fate.
        init(of fate: AddressPlan.Fate) {
            switch fate {
            case .wrongCertificate: self = .otherName
            case .unknownIssuer: self = .unknownIssuer
            default: self = .valid
            }
        }
    }

    private init() {
        let authority = TestAuthority("Simulated Root")
        let stranger = TestAuthority("Unknown Root")
        root = authority.rootDER
        rootsPEM = TestAuthority("Other Root").rootPEM + authority.rootPEM
        identities = (1...2).map { number in
            var profile = CertificateProfile(for: "client\(number).test")
            profile.serial = UInt64(number)
            // OpenSSL compares a key and a certificate of one kind only.
            if number == 2 { profile.key = .rsa(2048) }
            guard let certificate = try? TestAuthority("Clients").issue(profile) else {
                fatalError("no certificate for a client")
            }
            return ClientIdentity(
                certificateChain: Array(certificate.chainPEM.utf8),
                privateKey: Array(certificate.keyPEM.utf8)
            )
        }
        for known in [root, otherRoot, stranger.rootDER] { sim_tls_know(known, known.count) }
        let names = (0..<Self.mostHosts).map(Self.name) + [Self.proxyName, Self.resolverName]
        for name in names {
            add(authority.certificate(for: name), name: name, kind: .valid)
            add(authority.certificate(for: "other.test"), name: name, kind: .otherName)
            add(stranger.certificate(for: name), name: name, kind: .unknownIssuer)
        }
        pins = (0..<Self.mostHosts).compactMap { host in
            let key = authority.certificate(for: Self.name(host)).publicKeyDER
            return MessageDigest.sha256.digest(of: key).flatMap { KeyPin(sha256: $0) }
        }
        do throws(FixtureError) { try addLists(authority) } catch { fatalError("\(error)") }
        for host in 0..<Self.mostHosts {
            do throws(FixtureError) { try addStaples(host, authority, stranger) } catch {
                fatalError("\(error)")
            }
        }
        do throws(FixtureError) { try addKeys(authority, stranger) } catch { fatalError("\(error)") }
    }

    /// Adds servers that encrypt the names of the hosts. Their certificates are for the public name as well.
    private func addKeys(_ authority: TestAuthority, _ stranger: TestAuthority) throws(FixtureError) {
        guard FixtureECHKey.isSupported else { return }
        let keys = [
            try FixtureECHKey(publicName: Self.publicName), try FixtureECHKey(publicName: Self.publicName),
        ]
        (configs, staleConfigs) = (
            try? ECHConfigList(keys[0].configList), try? ECHConfigList(keys[1].configList)
        )
        for name in (0..<Self.mostHosts).map(Self.name) {
            let profile = CertificateProfile([.dns(name), .dns(Self.publicName)])
            add(try authority.issue(profile), named: "encrypted valid \(name)")
            add(authority.certificate(for: "other.test"), named: "encrypted otherName \(name)")
            add(try stranger.issue(profile), named: "encrypted unknownIssuer \(name)")
            for kind in Certificate.allCases {
                guard let context = contexts["encrypted \(kind) \(name)"] else { continue }
                try FixtureECH(keys[0]).install(in: OpaquePointer(context))
            }
        }
    }

    /// The name of a host of the world.
    ///
    /// All are below the first one's name, which decides where its cookies and its policies go.
    static func name(_ host: Int) -> String { host == 0 ? "host0.test" : "host\(host).host0.test" }

    static let proxyName = "proxy.test"
    static let publicName = "cover.test"
    static let resolverName = "dns.test"
    static let mostHosts = 3

    func context(for name: String, kind: Certificate, list: AddressPlan.CertificateList?)
        -> UnsafeMutableRawPointer
    {
        let usual = list?.rawValue ?? "\(kind) \(name)"
        guard
            let context = (encryptsNames ? renewedContext("encrypted \(usual)") : nil)
                ?? renewedContext(usual)
        else {
            fatalError("\(name) has no certificate")
        }
        return context
    }

    private func addStaples(_ host: Int, _ authority: TestAuthority, _ stranger: TestAuthority)
        throws(FixtureError)
    {
        let own = authority.certificate(for: Self.name(host))
        staples[host] = [
            .good: try authority.ocspResponse(for: own),
            .ofAnother: try authority.ocspResponse(for: authority.certificate(for: "other.test")),
            .revoked: try authority.ocspResponse(for: own, .revoked),
            .unknown: try authority.ocspResponse(for: own, .unknown),
            .expired: try authority.ocspResponse(for: own, from: 1_700_000_000, to: 1_700_100_000),
            .byAnother: try stranger.ocspResponse(for: own),
            .noise: [0x30, 3, 10, 1, 0],
        ]
    }

    /// Adds the lists of certificates that are to cost their clients time and memory. Each is for all hosts.
    private func addLists(_ authority: TestAuthority) throws(FixtureError) {
        let names = (0..<Self.mostHosts).map { CertificateProfile.Name.dns(Self.name($0)) }
        let valid = try authority.issue(CertificateProfile(names))
        let more = (0..<10_000).map { CertificateProfile.Name.dns("name\($0).test") }
        let large = try authority.issue(CertificateProfile(names + more))
        let alike = (0..<40).map { _ in TestAuthority("Alike") }
        let last = try TestAuthority("Alike").issue(CertificateProfile(names))
        add(valid, named: "long", behind: String(repeating: alike[0].rootPEM, count: 60))
        add(large, named: "large")
        add(last, named: "alike", behind: alike.map(\.rootPEM).joined())
        add(valid, named: "malformed")
    }

    /// Gives all servers new ticket keys, each its own: no session outlives its world, and none is resumed by
    /// a server with another certificate.
    ///
    /// - Parameter sharesTicketKeys: Whether servers with certificates for other names have the keys of the
    ///   first host's.
    /// - Parameter encryptsNames: Whether the hosts' servers have a key for Encrypted Client Hello.
    func beginWorld(seed: UInt64, sharesTicketKeys: Bool, encryptsNames: Bool) {
        (self.seed, self.sharesTicketKeys, self.encryptsNames) = (seed, sharesTicketKeys, encryptsNames)
        renewed = []
    }

    /// Returns a context with the keys of this world; `nil` if there is none of the name.
    private func renewedContext(_ name: String) -> UnsafeMutableRawPointer? {
        guard let context = contexts[name], let number = numbers[name] else { return nil }
        guard renewed.insert(number).inserted else { return context }
        let isShared =
            sharesTicketKeys && name.hasPrefix("otherName host") && !name.hasSuffix(" " + Self.name(0))
            || name == "valid " + Self.name(0)
        sim_tls_renew(context, seed &* 64 &+ (isShared ? 63 : UInt64(number)))
        return context
    }

    private func add(_ certificate: FixtureCertificate, name: String, kind: Certificate) {
        add(certificate, named: "\(kind) \(name)")
    }

    private func add(_ certificate: FixtureCertificate, named name: String, behind others: String = "") {
        guard let context = sim_tls_context(certificate.chainPEM + others, certificate.keyPEM) else {
            fatalError("OpenSSL does not accept the certificate of \(name)")
        }
        contexts[name] = context
    }
}

/// The bytes of a body. Each body has bytes of its own, so that bytes of another one are noticed.
enum Pattern {
    private static let mostBytes = 3 << 20
    private static let bodies = 1 << 16

    /// Random bytes, of which each body is a part.
    private static let noise: [UInt8] = {
        var dice = Dice(seed: 0xB0D1E5)
        return (0..<(mostBytes + bodies) / 8).flatMap { _ in
            withUnsafeBytes(of: dice.next()) { Array($0) }
        }
    }()

    /// Bytes of which coding leaves few, for bodies with negative numbers.
    private static let dull = (0..<mostBytes + bodies).map { UInt8(truncatingIfNeeded: $0 >> 6) }

    private static func offset(of body: Int) -> Int { body &* 7919 & (bodies - 1) }

    static func bytes(_ body: Int, from start: Int = 0, count: Int) -> [UInt8] {
        let first = offset(of: body) + start
        return Array((body < 0 ? dull : noise)[first..<first + count])
    }

    /// Whether these are bytes of the body from that place on.
    static func matches(_ bytes: [UInt8], body: Int, from start: Int) -> Bool {
        let first = offset(of: body) + start
        guard start + bytes.count <= mostBytes else { return false }
        return (body < 0 ? dull : noise).withUnsafeBytes { known in
            bytes.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress, let other = known.baseAddress else { return true }
                return memcmp(base, other + first, bytes.count) == 0
            }
        }
    }

    /// The number of the body of a call's reply. Half of those that are coded become small by it.
    static func reply(_ index: Int, ofCall call: Int, isCoded: Bool = false) -> Int {
        let body = call * 16 + index + 1000
        return isCoded && call % 4 < 2 ? -body : body
    }
}
