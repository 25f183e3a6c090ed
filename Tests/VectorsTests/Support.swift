import Foundation

@testable import tls_fixtures

/// The checked-in fixtures.
let checkedInFixtures = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fixtures").path(percentEncoded: false)

/// The program, which SwiftPM builds beside the tests.
var builtProgram: String? {
    guard let tests = FixtureFolder.program else { return nil }
    let path = URL(filePath: tests).deletingLastPathComponent().appending(path: "tls-fixtures")
        .path(percentEncoded: false)
    return FileManager.default.isExecutableFile(atPath: path) ? path : nil
}

/// A folder of fixtures that is there as long as the value lives; its certificates are the checked-in ones.
final class TemporaryFixtures {
    let path: String

    init(_ files: [String: String]) throws {
        path = NSTemporaryDirectory() + "vectors-" + UUID().uuidString
        let manager = FileManager.default
        try manager.createDirectory(atPath: path + "/vectors", withIntermediateDirectories: true)
        try manager.createSymbolicLink(
            atPath: path + "/certificates",
            withDestinationPath: checkedInFixtures + "/certificates"
        )
        for (file, text) in files.merging(["servers.json": Self.servers], uniquingKeysWith: { own, _ in own })
        {
            let place = "\(path)/vectors/\(file)"
            let folder = URL(filePath: place).deletingLastPathComponent()
            try manager.createDirectory(at: folder, withIntermediateDirectories: true)
            try text.write(toFile: place, atomically: true, encoding: .utf8)
        }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Its faults, one on each line.
    var faults: [String] {
        do throws(VectorFaults) {
            _ = try VectorFolder(fixtures: path)
            return []
        } catch {
            return error.faults.map(\.description)
        }
    }

    private static let servers = #"[{"name": "good", "about": "works"}]"#
}

/// A vector of `names` as text, with some of its fields replaced.
func nameVector(
    _ name: String = "a: one",
    certificate: String = "good",
    identity: String = "good.test",
    expect: String = #"{"verdict": "accept"}"#,
    reference: String = "RFC 9525 section 6.3",
    right: String = "must",
    more: String = ""
) -> String {
    """
    {"name": "\(name)", "why": "a reason", "reference": "\(reference)", "right": "\(right)",
    "certificate": "\(certificate)", "identity": "\(identity)", "expect": \(expect)\(more)}
    """
}
