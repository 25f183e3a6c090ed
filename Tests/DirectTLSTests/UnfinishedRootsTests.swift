import CDirectOpenSSL
import Foundation
import TLSFixtures
import Testing

@testable import DirectTLS

@Suite("Files of roots that are being written")
struct UnfinishedRootsTests {
    @Test("A file without a root is looked at again, and one that stays so makes nothing anew")
    func unfinished() throws {
        let files = FileManager.default
        let folder = files.temporaryDirectory.appending(path: "direct-roots-\(UUID().uuidString)")
        try files.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? files.removeItem(at: folder) }
        let other = TestCertificate(.init(commonName: "Other", isAuthority: true))
        try Data(TestCertificate.authority.pem).write(to: folder.appending(path: "0000000a.0"))
        let whole = try SystemRoots(directories: folder.path).read()
        #expect(!whole.lacksRoots && !whole.isOutdated)

        let file = folder.appending(path: "0000000b.0")
        for count in [0, 10, other.pem.count - 40] {
            try Data(other.pem.prefix(count)).write(to: file)
            let index = try SystemRoots(directories: folder.path).read()
            #expect(index.lacksRoots && !index.isOutdated)
            try Data(other.pem).write(to: file)
            #expect(index.isOutdated)
            let next = try SystemRoots(directories: folder.path).read()
            #expect(!next.lacksRoots)
            try files.removeItem(at: file)
            #expect(!index.isOutdated)
        }
        let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        for fault in [Array(broken.utf8), Array(other.pem.prefix(300)), Array(other.pem.prefix(10))] {
            // The roots in front of a fault count.
            let third = TestCertificate(.init(commonName: "Third", isAuthority: true))
            try Data(third.pem + fault).write(to: file)
            let index = try SystemRoots(directories: folder.path).read()
            #expect(index.roots(named: X509_get_subject_name(third.x509)).count == 1)
            #expect(index.lacksRoots && !index.isOutdated)
            try Data(third.pem + other.pem).write(to: file)
            #expect(index.isOutdated)
        }
    }
}
