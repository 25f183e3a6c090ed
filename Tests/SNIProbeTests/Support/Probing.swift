import DirectHTTP
import DirectIO
import DirectTestCommands
import DirectTestTime
import Foundation
import TLSFixtures

@testable import SNIProbe

/// The result of a run of the command, without its printing.
struct Outcome: Sendable {
    let records: [ProbeRecord]
    let code: Int32

    var record: ProbeRecord? { records.first }
    var faults: [String] { records.flatMap { $0.faults.map(\.id.rawValue) } }
}

/// Runs the command within this process, on a thread of its own: it blocks.
func probe(
    _ arguments: [String],
    trusting roots: String? = nil,
    lookups: SystemLookups? = nil,
    on loop: EventLoop = .shared,
    pauseOfPieces: Duration = .milliseconds(1)
) async throws -> Outcome {
    try await onOwnThread { try probeBlocking(arguments, roots, lookups, loop, pauseOfPieces) }
}

/// Probes a server that leaves something unanswered: no time passes until the server has seen what it must,
/// then the whole time limit of 300 ms does.
func probe(
    _ arguments: [String],
    trusting roots: String,
    at server: FixtureServer,
    once condition: @escaping @Sendable ([ConnectionRecord]) -> Bool
) async throws -> Outcome {
    let time = HeldTime()
    async let outcome = probe(arguments + ["-t", "300ms"], trusting: roots, on: time.loop)
    _ = try await server.waitUntil(condition)
    await time.settle()
    time.advance(by: .milliseconds(300))
    return try await outcome
}

/// The same for one server: `host` at the server's address and port.
func probe(_ host: String, at server: FixtureServer, _ options: String..., trusting roots: String)
    async throws
    -> Outcome
{
    try await probe(["\(host)@\(server.authority)"] + options, trusting: roots)
}

private func probeBlocking(
    _ arguments: [String],
    _ roots: String?,
    _ lookups: SystemLookups?,
    _ loop: EventLoop,
    _ pauseOfPieces: Duration
) throws -> Outcome {
    var options = try Options(arguments)
    options.settings.pauseOfPieces = pauseOfPieces
    if loop === EventLoop.shared {
        // Nothing ends early on a busy machine.
        options.settings.comparisonTime = .seconds(3600)
        if !arguments.contains("-t") { options.settings.timeout = .seconds(3600) }
    }
    if let roots { options.settings.roots = .only([.pem(Array(roots.utf8))]) }
    let output = CollectedOutput()
    let console = Console(isTerminal: false, errorsAreTerminal: false, usesColor: false, unicode: true)
    let surroundings = Run.Surroundings(alarm: Alarm(), console: console, lookups: lookups, loop: loop)
    let code = try Run(options, to: output, in: surroundings).run()
    return Outcome(records: output.records, code: code)
}

private final class CollectedOutput: RecordOutput {
    var records: [ProbeRecord] = []

    func add(_ record: ProbeRecord, isOnlyOne: Bool) { records.append(record) }
    func finish(_ digest: Digest, interrupted: Bool) {}
    func flush() -> Bool { true }
}

/// A moment so many days from now, in seconds since 1970.
func days(_ count: Int64) -> Int64 { Int64(Date().timeIntervalSince1970) + count * 86_400 }

extension CertificateProfile {
    /// A leaf of a public authority: it says where its issuer's certificate is.
    static func publicLeaf(_ names: String..., from: Int64 = -10, until: Int64 = 80) -> CertificateProfile {
        var profile = CertificateProfile(names.map { .dns($0) }, commonName: names.first)
        profile.validity = .init(notBefore: days(from), notAfter: days(until))
        profile.issuerURL = "http://ca.example/e1.crt"
        return profile
    }
}
