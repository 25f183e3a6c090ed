import DirectHTTP
import Foundation
import TLSFixtures
import Testing

@testable import SNIProbe

/// A record that is the same every day: judged at a fixed time, with fixed durations, and without the port.
func steady(_ record: ProbeRecord, _ settings: ProbeSettings = ProbeSettings()) -> ProbeRecord {
    var observation = record.observation
    observation.time = 1_795_000_000_123
    if observation.first?.tcpTime != nil { observation.first?.tcpTime = .milliseconds(12) }
    if observation.first?.tlsTime != nil { observation.first?.tlsTime = .microseconds(26_300) }
    if observation.tcpTime != nil { observation.tcpTime = .milliseconds(12) }
    if observation.exchange?.firstByteTime != nil { observation.exchange?.firstByteTime = .milliseconds(31) }
    if observation.total != nil { observation.total = .microseconds(69_300) }
    let probe = observation.probe
    observation.probe = Probe(target: probe.target, address: probe.address, port: 443, source: probe.source)
    return Judge(settings: settings, now: 1_795_000_000).record(of: observation)
}

/// Compares with a checked-in file; `UPDATE_GOLDEN=1` writes it anew.
func expectGolden(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Golden").appending(path: name)
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try text.write(to: file, atomically: true, encoding: .utf8)
    }
    let expected = try String(contentsOf: file, encoding: .utf8)
    #expect(text == expected, "\(name) differs", sourceLocation: sourceLocation)
}

/// The checked-in certificates, which are the same on each machine.
enum CheckedIn {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Fixtures/certificates")
        .path(percentEncoded: false)

    static func certificate(_ name: String) throws -> FixtureCertificate {
        try .load(name, from: folder)
    }

    static func rootPEM() throws -> String {
        try String(contentsOfFile: folder + "/root.pem", encoding: .utf8)
    }
}
