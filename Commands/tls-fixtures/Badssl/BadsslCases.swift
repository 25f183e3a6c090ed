internal import TLSFixtures

extension BadsslCase {
    static let all = certificates + chains + clientCertificates + revocation + old + groups + fine

    /// One certificate, good or bad in itself.
    private static let certificates: [BadsslCase] = [
        .leaf("expired", .refuse, "valid until the end of 2020") { $0.validity = .expired },
        .leaf("not-yet-valid", .refuse, "valid from 2090 on", isBadssls: false) { $0.validity = .notYet },
        BadsslCase(labels: "wrong.host", expected: .refuse, about: "a certificate for one label less") {
            house in
            let profile = CertificateProfile(for: house.suffix, "*.\(house.suffix)")
            let certificate = try house.root.issue(profile)
            return house.site("wrong.host", FixtureTLSSettings(certificates: [certificate]))
        },
        .leaf("self-signed", .refuse, "signed with its own key") { $0.isSelfSigned = true },
        .leaf("no-common-name", .accept, "a subject without common name; the name is in subjectAltName") {
            ($0.commonName, $0.organization) = (nil, "Local badssl")
        },
        .leaf("no-subject", .accept, "an empty subject; the name is in subjectAltName") {
            $0.commonName = nil
        },
        .leaf("only-common-name", .refuse, "the name is in the subject alone", isBadssls: false) {
            $0.names = []
        },
        .leaf("wrong-purpose", .refuse, "a certificate for clients alone", isBadssls: false) {
            $0.purposes = [.clientAuth]
        },
        .leaf("rsa1024", .policy, "an RSA key of 1024 bits", isBadssls: false) { $0.key = .rsa(1024) },
        .leaf("sha1-2017", .policy, "signed with SHA-1") { $0.digest = .sha1 },
        .leaf("sha256", .accept, "signed with SHA-256"),
        .leaf("sha384", .accept, "signed with SHA-384") { $0.digest = .sha384 },
        .leaf("sha512", .accept, "signed with SHA-512") { $0.digest = .sha512 },
        .leaf("ecc256", .accept, "an ECDSA key, P-256"),
        .leaf("ecc384", .accept, "an ECDSA key, P-384") { $0.key = .p384 },
        .leaf("rsa2048", .accept, "an RSA key of 2048 bits") { $0.key = .rsa(2048) },
        .leaf("rsa4096", .accept, "an RSA key of 4096 bits") {
            $0.key = .rsa(4096)
        },
        .leaf("1000-sans", .accept, "a thousand names") { $0.addNames(1000) },
        .leaf("10000-sans", .policy, "ten thousand names, some 300 kB") { $0.addNames(10000) },
    ]

    /// What stands between the certificate and the root.
    private static let chains: [BadsslCase] = [
        .chain("untrusted-root", .refuse, "issued by another root") { house, profile in
            try house.stranger.issue(profile).sent(with: [house.stranger.certificate])
        },
        .chain("incomplete-chain", .refuse, "the intermediate is not sent, and has no address") {
            house,
            profile in
            try house.root.intermediate("Local badssl, not sent").issue(profile).sent(with: [])
        },
        .chain("sha1-intermediate", .policy, "an intermediate that is signed with SHA-1") { house, profile in
            try house.root.intermediate("Local badssl, SHA-1") { $0.digest = .sha1 }.issue(profile)
        },
        .chain("chain-of-eight", .accept, "seven intermediates", isBadssls: false) { house, profile in
            var issuer = house.root
            for number in 1...7 { issuer = try issuer.intermediate("Local badssl, number \(number)") }
            return try issuer.issue(profile)
        },
        .chain("name-constraint", .refuse, "an intermediate for other names", isBadssls: false) {
            house,
            profile in
            let issuer = try house.root.intermediate("Local badssl, elsewhere") {
                $0.nameConstraints = "permitted;DNS:elsewhere.\(house.suffix)"
            }
            return try issuer.issue(profile)
        },
        .chain("path-length", .refuse, "an intermediate below one that allows none", isBadssls: false) {
            house,
            profile in
            let last = try house.root.intermediate("Local badssl, last", pathLength: 0)
            return try last.intermediate("Local badssl, one too many").issue(profile)
        },
        .chain("not-an-authority", .refuse, "issued by a server's certificate", isBadssls: false) {
            house,
            profile in
            let issuer = try house.root.intermediate("Local badssl, a server") {
                ($0.isAuthority, $0.keyUsage) = (false, "critical,digitalSignature")
            }
            return try issuer.issue(profile)
        },
    ]

    private static let clientCertificates: [BadsslCase] = [
        BadsslCase(
            labels: "client",
            expected: .accept,
            about: "asks for a certificate; 200 with the one of client.pem, 400 without"
        ) { house in
            let certificate = try house.root.issue(CertificateProfile(for: house.name("client")))
            var settings = FixtureTLSSettings(certificates: [certificate])
            settings.clientCertificates = .requested
            let (wanted, name) = (house.client.der, house.name("client"))
            let site = FixtureSite(
                .tls(settings),
                .http { request in
                    request.tls?.clientCertificate == wanted
                        ? .text("\(name)\n") : .text("no certificate of client.pem\n", status: 400)
                }
            )
            return site
        },
        BadsslCase(
            labels: "client-cert-missing",
            expected: .refuse,
            about: "ends the handshake without a certificate of the root (badssl answers 400)"
        ) { house in
            let labels = "client-cert-missing"
            let certificate = try house.root.issue(CertificateProfile(for: house.name(labels)))
            var settings = FixtureTLSSettings(certificates: [certificate])
            settings.clientCertificates = .required(from: [house.root.certificate])
            return house.site(labels, settings)
        },
    ]

    private static let revocation: [BadsslCase] = [
        BadsslCase(
            labels: "revoked",
            expected: .policy,
            about: "revoked, by a stapled answer and by a revocation list on this port"
        ) { house in
            var settings = FixtureTLSSettings(certificates: [house.revoked])
            settings.ocspStaple = try house.root.ocspResponse(for: house.revoked, .revoked)
            return house.site("revoked", settings)
        },
        .leaf("must-staple", .policy, "requires a stapled answer, which is not sent", isBadssls: false) {
            $0.mustStaple = true
        },
    ]

    /// What TLS has given up. Suites that OpenSSL no longer has are only named by the server.
    private static let old: [BadsslCase] = [
        .tls("tls-v1-0", .policy, "TLS 1.0 alone") {
            ($0.minimumVersion, $0.maximumVersion) = (.tls10, .tls10)
        },
        .tls("tls-v1-1", .policy, "TLS 1.1 alone") {
            ($0.minimumVersion, $0.maximumVersion) = (.tls11, .tls11)
        },
        .suite("rc4", 0x0005, "RSA with RC4 and SHA-1"),
        .suite("rc4-md5", 0x0004, "RSA with RC4 and MD5"),
        .suite("3des", 0x000A, "RSA with 3DES"),
        .tls("null", .refuse, "TLS 1.2 without encryption", key: .rsa(2048)) {
            ($0.maximumVersion, $0.ciphers) = (.tls12, "NULL-SHA256:@SECLEVEL=0")
        },
        .tls("cbc", .policy, "TLS 1.2 with AES-CBC and SHA-1") {
            ($0.maximumVersion, $0.ciphers) = (.tls12, "ECDHE-ECDSA-AES128-SHA:@SECLEVEL=0")
        },
        .tls(
            "static-rsa",
            .policy,
            "TLS 1.2 with a key that is encrypted to the certificate",
            key: .rsa(2048)
        ) {
            ($0.maximumVersion, $0.ciphers) = (.tls12, "AES128-GCM-SHA256:@SECLEVEL=0")
        },
    ]

    private static let groups: [BadsslCase] = [
        .group("dh512", .bits512, .refuse, "a prime of 512 bits"),
        .group("dh1024", .bits1024, .policy, "the prime of 1024 bits of RFC 2409"),
        .group("dh2048", .bits2048, .policy, "the prime of 2048 bits of RFC 3526; some know no DHE"),
        .group("dh-composite", .composite, .policy, "2048 bits that are no prime; nearly no client looks"),
        .group("dh-small-subgroup", .smallSubgroup, .refuse, "2048 bits, a generator of order 2"),
    ]

    private static func group(
        _ labels: String,
        _ group: DiffieHellmanGroup,
        _ expected: Verdict,
        _ about: String
    ) -> BadsslCase {
        .tls(labels, expected, "TLS 1.2 with DHE: \(about)", key: .rsa(2048)) {
            $0.diffieHellman = group
            ($0.maximumVersion, $0.ciphers) = (.tls12, "DHE-RSA-AES128-GCM-SHA256:@SECLEVEL=0")
        }
    }

    private static let fine: [BadsslCase] = [
        .leaf("", .accept, "nothing is wrong"),
        .tls("tls-v1-2", .accept, "TLS 1.2 alone") { $0.maximumVersion = .tls12 },
        .tls("mozilla-modern", .accept, "TLS 1.3 alone") { $0.minimumVersion = .tls13 },
        .tls("mozilla-intermediate", .accept, "TLS 1.2 with ECDHE and AEAD, and TLS 1.3") {
            $0.ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20:@SECLEVEL=0"
        },
        .tls("mozilla-old", .accept, "TLS 1.0 to 1.3") { $0.minimumVersion = .tls10 },
        BadsslCase(labels: "hsts", expected: .accept, about: "with Strict-Transport-Security") { house in
            let certificate = try house.root.issue(CertificateProfile(for: house.name("hsts")))
            let settings = FixtureTLSSettings(certificates: [certificate])
            return house.site("hsts", settings, fields: ["Strict-Transport-Security": "max-age=15768000"])
        },
    ]

    /// What badssl.com has of a client's TLS or HTTP and this does not, and why. What shows pages to people
    /// (mixed content, forms, icons, titles) is not listed.
    static let missing: KeyValuePairs = [
        "dh480": "OpenSSL makes no key of fewer than 512 bits; dh512 is there",
        "rsa8192": "its key takes a minute to make",
        "sha1-2016": "sha1-2017 is the same in what a client sees",
        "extended-validation": "only browsers show it",
        "pinning-test": "browsers have given its pins up",
        "no-sct": "certificates of a root of one's own are exempt",
        "invalid-expected-sct": "it needs a log that the client knows",
        "preloaded-hsts": "it is a list in browsers",
        "superfish": "untrusted-root is the same for who does not trust its root; so are edellroot, "
            + "dsdtestprovider, preact-cli, webpack-dev-server, captive-portal and mitm-software",
    ]
}

extension CertificateProfile {
    /// Adds names below the first one.
    fileprivate mutating func addNames(_ count: Int) {
        guard let base = commonName else { return }
        names += (1..<count).map { .dns("\($0).\(base)") }
    }
}
