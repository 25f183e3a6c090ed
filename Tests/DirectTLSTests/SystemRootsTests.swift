import CDirectOpenSSL
import Foundation
import TLSFixtures
import Testing

@testable import DirectTLS

@Suite("The system's roots")
struct SystemRootsTests {
    private func find(
        _ environment: [String: String] = [:],
        directories: [String] = [],
        bundles: [String] = []
    ) throws -> SystemRoots {
        try SystemRoots.find(
            environment: { environment[$0] },
            directories: directories,
            bundles: bundles
        )
    }

    /// A directory with this many links named by hash, removed with the test.
    private func directory(links: Int, _ use: (String) throws -> Void) throws {
        let url = FileManager.default.temporaryDirectory.appending(
            path: "direct-roots-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: url) }
        for index in 0..<links {
            try Data().write(to: url.appending(path: String(format: "%08x.0", index)))
        }
        for other in ["readme.txt", "00000000.r0", "0000000g.0", "00000000.01", "000000001.0"] {
            try Data().write(to: url.appending(path: other))
        }
        try use(url.path)
    }

    /// The index of a bundle with this text.
    private func index(of text: [UInt8]) throws -> RootIndex {
        let file = FileManager.default.temporaryDirectory.appending(path: "roots-\(UUID().uuidString).pem")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(text).write(to: file)
        return try SystemRoots(bundle: file.path).read()
    }

    @Test("Places named in the environment come first")
    func environmentComesFirst() throws {
        let both = ["SSL_CERT_DIR": "/one:/two", "SSL_CERT_FILE": "/three"]
        #expect(
            try find(both, bundles: ["/dev/null"])
                == SystemRoots(directories: "/one:/two", bundle: "/three")
        )
        #expect(try find(["SSL_CERT_FILE": "/three"]) == SystemRoots(bundle: "/three"))
        #expect(try find(["SSL_CERT_DIR": "/one"]) == SystemRoots(directories: "/one"))
        #expect(SystemRoots.unusualPaths { both[$0] } == ["/three", "/one", "/two"])
    }

    @Test("An environment that names what a system would find by itself is the usual one")
    func usualPaths() {
        let usual = ["SSL_CERT_DIR": "/etc/ssl/certs", "SSL_CERT_FILE": "/etc/ssl/certs/ca-certificates.crt"]
        #expect(SystemRoots.unusualPaths { usual[$0] } == [])
        let mixed = ["SSL_CERT_DIR": "/etc/ssl/certs", "SSL_CERT_FILE": "/proxy.pem"]
        #expect(SystemRoots.unusualPaths { mixed[$0] } == ["/proxy.pem", "/etc/ssl/certs"])
    }

    @Test("A bundle is preferred to a hashed directory, which is one file for each root")
    func bundleComesBeforeTheDirectory() throws {
        try directory(links: 1) { path in
            let both = try find(directories: [path], bundles: ["/no/such", "/dev/null"])
            #expect(both == SystemRoots(bundle: "/dev/null"))
            let found = try find(directories: ["/no/such", path], bundles: ["/no/such"])
            #expect(found == SystemRoots(directories: path))
            let empty = "\(path)/00000000.0"
            #expect(try find(directories: [path], bundles: [empty]) == SystemRoots(directories: path))
        }
    }

    @Test(
        "A bundle in which a certificate is cut is refused, and one that cannot be parsed is no root"
    )
    func brokenBundle() throws {
        let file = FileManager.default.temporaryDirectory.appending(
            path: "roots-\(UUID().uuidString).pem"
        )
        defer { try? FileManager.default.removeItem(at: file) }
        let pem = TestCertificate.authority.pem
        for broken in [
            Array(pem.dropLast(30)), pem + Array("-----BEGIN CERT".utf8), [], Array("text".utf8),
        ] {
            try Data(broken).write(to: file)
            #expect(throws: TLSError.self) { try SystemRoots(bundle: file.path).read() }
        }
        // Its subject can be read, and its key cannot.
        let other = TestCertificate(.init(commonName: "Other Root", isAuthority: true))
        var damaged = TestCertificate.authority.der
        let curve: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        let place = try #require(damaged.indices.first { damaged[$0...].starts(with: curve) })
        damaged[place + 9] = 0x7F
        let text =
            "-----BEGIN CERTIFICATE-----\n\(Data(damaged).base64EncodedString())\n-----END CERTIFICATE-----\n"
        try Data(Array(text.utf8) + other.pem).write(to: file)
        let store = try TrustStore.make([try SystemRoots(bundle: file.path).read()])
        defer { X509_STORE_free(store) }
        #expect(!vouches(store, for: .leaf("a.test")))
        #expect(vouches(store, for: TestCertificate(.init(), issuer: other)))
    }

    @Test("Roots of one subject are tried by the signature, in whatever order and place they are")
    func namesakes() throws {
        // Two keys, no key identifiers; and an old copy of a root that was renewed.
        let first = TestCertificate(.init(commonName: "Corp", isAuthority: true))
        let second = TestCertificate(.init(commonName: "Corp", isAuthority: true))
        let strange = TestCertificate(.init(commonName: "Corp", isAuthority: true))
        let leaves = [first, second].map { TestCertificate(.init(names: [.dns("a.test")]), issuer: $0) }
        for order in [[first, second, strange], [strange, second, first], [second, first, strange]] {
            let store = try TrustStore.make([
                try RootIndex(order.prefix(2).map { .der($0.der) }),
                try index(of: order[2].pem),
            ])
            defer { X509_STORE_free(store) }
            #expect(leaves.allSatisfy { vouches(store, for: $0) })
        }
        let alone = try TrustStore.make([try RootIndex([.der(first.der), .der(strange.der)])])
        defer { X509_STORE_free(alone) }
        #expect(vouches(alone, for: leaves[0]) && !vouches(alone, for: leaves[1]))
    }

    @Test("Of a renewed root the valid copy counts")
    func renewed() throws {
        let new = TestAuthority("Renewed")
        var profile = CertificateProfile.authority("Renewed")
        profile.existingKey = new.certificate
        profile.validity = .expired
        let old = try TestAuthority(profile)
        let leaf = new.certificate(for: "a.test")
        for roots in [[old.rootDER, new.rootDER], [new.rootDER, old.rootDER]] {
            let context = try TLSContext.testing { $0.roots = .only(roots.map { .der($0) }) }
            #expect(try context.verify([leaf.der], for: .name("a.test")) == nil)
        }
        let context = try TLSContext.testing { $0.roots = .only([.der(old.rootDER)]) }
        #expect(try context.verify([leaf.der], for: .name("a.test")) != nil)
    }

    @Test("The spelling of a subject does not matter")
    func spelling() throws {
        let root = TestCertificate(.init(commonName: "My Root", isAuthority: true))
        let other = TestCertificate(.init(commonName: "  MY   root ", isAuthority: true))
        #expect(X509_NAME_cmp(X509_get_subject_name(root.x509), X509_get_subject_name(other.x509)) == 0)
        let index = try index(of: root.pem)
        #expect(index.roots(named: X509_get_subject_name(other.x509)).count == 1)
        #expect(index.roots(named: X509_get_subject_name(TestCertificate.authority.x509)).isEmpty)
    }

    @Test("A subject in characters of two or four bytes is the same as in UTF-8", arguments: [2, 4])
    func wideCharacters(width: Int) throws {
        let text = "\u{6839} A\u{2141}"
        let root = TestCertificate(.init(commonName: text, isAuthority: true))
        let wide = text.unicodeScalars.flatMap { scalar in
            (0..<width).reversed().map { UInt8(truncatingIfNeeded: scalar.value >> ($0 * 8)) }
        }
        let name = try #require(X509_NAME_new())
        defer { X509_NAME_free(name) }
        let kind = width == 2 ? V_ASN1_BMPSTRING : V_ASN1_UNIVERSALSTRING
        X509_NAME_add_entry_by_NID(name, NID_commonName, kind, wide, Int32(wide.count), -1, 0)
        #expect(X509_NAME_cmp(X509_get_subject_name(root.x509), name) == 0)
        #expect(try index(of: root.pem).roots(named: name).count == 1)
    }

    /// Whether a chain from the certificate to a root in the store is good.
    private func vouches(_ store: OpaquePointer, for leaf: TestCertificate) -> Bool {
        guard let check = X509_STORE_CTX_new() else { return false }
        defer { X509_STORE_CTX_free(check) }
        guard X509_STORE_CTX_init(check, store, leaf.x509, nil) == 1 else { return false }
        defer { ERR_clear_error() }
        return X509_verify_cert(check) == 1
    }

    @Test("A system without roots is an error")
    func systemWithoutRootsIsAnError() {
        #expect(throws: TLSError.self) { try find(directories: ["/no/such"], bundles: ["/no/such"]) }
    }

    @Test("The error for a place that cannot be read names it")
    func namedPlaceThatCannotBeReadIsAnErrorThatNamesIt() throws {
        for roots in [SystemRoots(directories: "/no/such"), SystemRoots(bundle: "/no/such")] {
            do throws(TLSError) {
                _ = try roots.read()
                Issue.record("read")
            } catch {
                #expect(error.description.contains("/no/such"))
            }
        }
    }

    @Test("All hashed files of all directories count, and a bundle beside them")
    func allPlaces() throws {
        let roots = (0..<3).map { TestCertificate(.init(commonName: "Root \($0)", isAuthority: true)) }
        try directory(links: 1) { first in
            try directory(links: 2) { second in
                for (root, place) in zip(
                    roots,
                    ["\(first)/0000000a.7", "\(second)/0000000a.0", "\(second)/b.pem"]
                ) {
                    try Data(root.pem).write(to: URL(filePath: place))
                }
                let places = SystemRoots(
                    directories: "\(first):/no/such:\(second)",
                    bundle: "\(second)/b.pem"
                )
                let store = try TrustStore.make([try places.read()])
                defer { X509_STORE_free(store) }
                #expect(roots.allSatisfy { vouches(store, for: TestCertificate(.init(), issuer: $0)) })
                #expect(!vouches(store, for: .leaf("a.test")))
            }
        }
    }

    @Test("A bundle beside directories that is missing, or has a fault, hides none of their roots")
    func brokenBundleBesideDirectories() throws {
        let root = TestCertificate.authority,
            other = TestCertificate(.init(commonName: "O", isAuthority: true))
        try directory(links: 0) { path in
            let bundle = "\(path)/bundle.pem"
            func read() throws -> RootIndex { try SystemRoots(directories: path, bundle: bundle).read() }
            #expect(throws: TLSError.self) { try read() }
            try Data(root.pem).write(to: URL(filePath: "\(path)/0000000a.0"))
            for text in [nil, [], Array("text".utf8), other.pem.dropLast(30)] as [[UInt8]?] {
                if let text { try Data(text).write(to: URL(filePath: bundle)) }
                let index = try read()
                #expect(index.roots(named: X509_get_subject_name(root.x509)).count == 1 && index.lacksRoots)
            }
        }
    }

    @Test("A subject of several attributes in one place is the same in whatever order they are")
    func severalAttributes() throws {
        // A set is ordered by its bytes, of which the first is the kind of string.
        func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag, UInt8(content.count)] + content }
        func name(_ kinds: (UInt8, UInt8)) throws -> OpaquePointer {
            let first = element(0x30, element(6, [0x55, 4, 3]) + element(kinds.0, Array("a".utf8)))
            let second = element(0x30, element(6, [0x55, 4, 3]) + element(kinds.1, Array("b".utf8)))
            let set = kinds.0 <= kinds.1 ? first + second : second + first
            let der = element(0x30, element(0x31, set))
            return try der.withUnsafeBufferPointer { bytes in
                var cursor = bytes.baseAddress
                return try #require(d2i_X509_NAME(nil, &cursor, bytes.count))
            }
        }
        let (utf8, printable): (UInt8, UInt8) = (12, 19)
        let one = try name((utf8, utf8)), other = try name((printable, utf8))
        defer {
            X509_NAME_free(one)
            X509_NAME_free(other)
        }
        try #require(X509_NAME_cmp(one, other) == 0)
        let root = TestCertificate(.init(isAuthority: true))
        X509_set_subject_name(root.x509, one)
        X509_sign(root.x509, root.key, EVP_sha256())
        #expect(try index(of: root.pem).roots(named: other).count == 1)
    }

    @Test("What is no root, or cannot be read, in a directory hides none of the others")
    func oddFiles() throws {
        let files = FileManager.default
        func certificate(_ base64: String) -> Data {
            Data("-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n".utf8)
        }
        for odd in 0..<7 {
            try directory(links: 0) { path in
                try Data(TestCertificate.authority.pem).write(to: URL(filePath: "\(path)/0000000a.0"))
                let other = "\(path)/0000000b.0"
                switch odd {
                case 0: try files.createSymbolicLink(atPath: other, withDestinationPath: "/no/such")
                case 1: try files.createDirectory(atPath: other, withIntermediateDirectories: false)
                // It can be opened, and the first byte is nowhere.
                case 2: try files.createSymbolicLink(atPath: other, withDestinationPath: "/proc/self/mem")
                case 3: try certificate("AAAA").write(to: URL(filePath: other))
                // Of a length that only BER has.
                case 4: try certificate("MIAwAwIBAQAA").write(to: URL(filePath: other))
                // It has no writer.
                case 5: try #require(mkfifo(other, 0o600) == 0)
                default: try Data(TestCertificate.authority.pem.dropLast(40)).write(to: URL(filePath: other))
                }
                let store = try TrustStore.make([try SystemRoots(directories: path).read()])
                defer { X509_STORE_free(store) }
                #expect(vouches(store, for: .leaf("a.test")), "\(odd)")
            }
        }
    }

    @Test("A directory that cannot be read hides no bundle")
    func missingDirectory() throws {
        try directory(links: 0) { path in
            try Data(TestCertificate.authority.pem).write(to: URL(filePath: "\(path)/b.pem"))
            let places = SystemRoots(directories: "/no/such", bundle: "\(path)/b.pem")
            let store = try TrustStore.make([try places.read()])
            defer { X509_STORE_free(store) }
            #expect(vouches(store, for: .leaf("a.test")))
        }
    }

    @Test("A bundle has the roots that OpenSSL reads in it, in whatever form", arguments: PEMForm.allCases)
    func forms(_ form: PEMForm) throws {
        let others = (0..<2).map { TestCertificate(.init(commonName: "Root \($0)", isAuthority: true)) }
        let text = form.text(of: others[0].pem) + others[1].pem
        let read = try? CertificateList(pem: text)
        let index = try? index(of: text)
        #expect((index == nil) == (read == nil))
        for root in others {
            let isRead = read?.all.contains { X509_cmp($0, root.x509) == 0 } ?? false
            let isKnown = index?.roots(named: X509_get_subject_name(root.x509)).count == 1
            #expect(isRead == isKnown)
        }
        withExtendedLifetime(read) {}
    }

    enum PEMForm: CaseIterable {
        case plain, windows, mixed, comment, dashes, indented, textInFront, textBehind, blankLine, longLines
        case byteOrderMark, otherEnd, otherLabel, trusted, noBase64, padded, cut, nothing, header

        func text(of pem: [UInt8]) -> [UInt8] {
            let text = String(decoding: pem, as: UTF8.self)
            let lines = text.split(separator: "\n").map(String.init)
            func joined(_ mark: String, _ lines: [String]) -> String { lines.map { $0 + mark }.joined() }
            let changed =
                switch self {
                case .plain: text
                case .windows: joined("\r\n", lines)
                case .mixed: joined("\r\n", Array(lines.prefix(3))) + joined("\n", Array(lines.dropFirst(3)))
                case .comment: "# a - b\nLabel\n=====\n" + text
                case .dashes: text + "------------------------\n"
                case .indented: joined("\n", lines.map { "  " + $0 })
                case .textInFront: "x" + text
                case .textBehind: joined(" x\n", lines)
                case .blankLine: lines[0] + "\n\n" + joined("\n", Array(lines.dropFirst()))
                case .longLines:
                    lines[0] + "\n" + lines.dropFirst().dropLast().joined() + "\n" + (lines.last ?? "") + "\n"
                case .byteOrderMark: "\u{FEFF}" + text
                case .otherEnd: text.replacing("END C", with: "END TRUSTED C")
                case .otherLabel: text.replacing("CERTIFICATE", with: "ATTRIBUTE CERTIFICATE")
                case .trusted: text.replacing("CERTIFICATE", with: "TRUSTED CERTIFICATE")
                case .noBase64: text.replacing("\n-----END", with: "*\n-----END")
                case .padded: text.replacing("\n-----END", with: "====\n-----END")
                case .cut: String(text.dropLast(40))
                case .nothing: lines[0] + "\n" + (lines.last ?? "") + "\n"
                case .header: lines[0] + "\nProc-Type: 4,CLEAR\n\n" + joined("\n", Array(lines.dropFirst()))
                }
            return Array(changed.utf8)
        }
    }

    @Test("Contexts that trust the system share its roots")
    func contextsThatTrustTheSystemShareItsRoots() throws {
        #expect(try SystemRoots.shared() === SystemRoots.shared())
    }

    @Test("Each root of this system is found, and is the issuer of itself")
    func everyRootOfTheSystem() throws {
        let bundle = try RootFile(
            path: try #require(SystemRoots.find(environment: { _ in nil }).bundle)
        ).bytes()
        let all = try CertificateList(pem: bundle)
        let index = try SystemRoots.shared()
        for root in all.all {
            let found = index.roots(named: X509_get_subject_name(root))
            #expect(found.contains { X509_cmp($0, root) == 0 })
        }
        #expect(all.all.count > 20)
    }

    @Test("Additional roots do not enter the system's shared store")
    func ownRootsBesideTheSystemsStayOutOfTheSharedStore() throws {
        let root = TestCertificate.authority
        let both = try TLSContext.testing { $0.roots = .systemAnd([.der(root.der)]) }
        #expect(try Pair(TestServer(.leaf("a.test")), both, .name("a.test")).shake() == .moved(0))
        let system = try TLSContext(TLSSettings())
        #expect(try Pair(TestServer(.leaf("a.test")), system, .name("a.test")).shake().error != nil)
    }
}
