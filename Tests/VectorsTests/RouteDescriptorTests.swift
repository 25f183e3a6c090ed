import DirectTestCommands
import Foundation
import Testing

@testable import tls_fixtures

@Suite("Descriptors of routes", .idleLimit)
struct RouteDescriptorTests {
    /// In a process of its own, where no other test opens and closes any.
    @Test(
        "No route leaves a descriptor open, whatever happens at its addresses",
        .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd")),
        .ownProcess
    )
    func noneLeft() async throws {
        await #expect(processExitsWith: .success) {
            let folder = try VectorFolder(fixtures: checkedInFixtures)
            let vectors = folder.vectors(of: [.routes]).filter {
                $0.head.name.hasPrefix("race:") || $0.head.name.hasPrefix("misdirected:")
            }
            let run = Run(folder: folder, vectors: vectors, clients: [Unhurried()])
            // Descriptors that are opened once for all are open after the first.
            _ = try await Run(folder: folder, vectors: [vectors[0]], clients: [OurClient()]).run { _ in }
            let before = try openSocketCount()
            let totals = try await run.run { row in
                guard case .failed(let differences) = row.outcome else { return }
                // How long a connection takes depends on the machine's load and is not the subject here.
                let others = differences.filter { $0.what != "time" }
                if !others.isEmpty { Issue.record("\(row.head.name): \(others)") }
            }
            #expect(totals.passed + totals.failed == vectors.count)
            #expect(try openSocketCount() == before)
        }
    }
}

/// Our client, with fewer jobs at a time: this is no quiet machine.
private struct Unhurried: VectorClient {
    private let client = OurClient()
    var facts: ClientDescription { client.facts }
    var isOurs: Bool { true }
    var width: Int { 8 }

    func run(_ job: Job) async -> JobOutcome { await client.run(job) }
}
