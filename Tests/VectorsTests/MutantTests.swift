import DirectTestCommands
import Foundation
import Testing

@testable import tls_fixtures

/// A sentence of the RFCs, the vectors that judge it, and the switches that break it.
private struct Sentence: Decodable, Sendable {
    var rfc: String
    var section: String
    var sentence: String
    var vectors: [String]?
    var mutants: [String]?

    static let all = Result {
        let path = URL(filePath: checkedInFixtures).appending(path: "vectors/musts.json")
        return try JSONDecoder().decode([Sentence].self, from: Data(contentsOf: path))
    }
}

@Suite("The mutant client", .idleLimit)
struct MutantTests {
    private let folder: VectorFolder
    private let authority: WireAuthority

    init() throws {
        folder = try VectorFolder(fixtures: checkedInFixtures)
        authority = try WireAuthority(certificates: folder.certificates)
    }

    @Test("Without a switch it fails no vector that judges by an RFC or an attack")
    func plain() async throws {
        let vectors = folder.vectors.filter { $0.head.right != .choice }
        let rows = await rows(of: vectors, with: MutantClient())
        for row in rows {
            switch row.outcome {
            case .failed(let differences) where row.isFailure:
                Issue.record("\(row.head.name): \(differences.map { "\($0)" }.joined(separator: "; "))")
            case .broken(let why): Issue.record("\(row.head.name): \(why)")
            case .failed, .passed, .left: break
            }
        }
        #expect(rows.count { $0.outcome == .passed } > 500)
    }

    @Test(
        "Each switch fails a vector of its sentence, and each vector of a judged sentence fails by one"
    )
    func switches() async throws {
        let sentences = try Sentence.all.get()
        // Some vectors are tried again and wait in between, so six sentences are judged at a time.
        await withTaskGroup(of: Void.self) { group in
            for (index, sentence) in sentences.enumerated() {
                if index >= 6 { await group.next() }
                group.addTask { await judge(sentence) }
            }
        }
        let used = Set(sentences.flatMap { $0.mutants ?? [] })
        #expect(used == Set(Mutation.allCases.map(\.rawValue).filter { !$0.hasPrefix("leaks") }))
        print("\(sentences.count { $0.mutants != nil }) of \(sentences.count) sentences have a mutant")
    }

    private func judge(_ sentence: Sentence) async {
        var pale = Set(sentence.mutants == nil ? [] : sentence.vectors ?? [])
        for name in sentence.mutants ?? [] {
            let title = "\(name), RFC \(sentence.rfc) section \(sentence.section)"
            guard let mutation = Mutation(rawValue: name) else {
                Issue.record("\(title): no such switch")
                continue
            }
            // Those that no switch has failed yet come first, so that few of the others need be run again.
            let vectors = (sentence.vectors ?? []).compactMap { folder.vector($0) }
            let client = MutantClient(mutation: mutation)
            var red = await redNames(vectors.filter { pale.contains($0.head.name) }, with: client)
            if red.isEmpty {
                red = await redNames(vectors.filter { !pale.contains($0.head.name) }, with: client)
            }
            if red.isEmpty { Issue.record("\(title) fails none of \(vectors.map(\.head.name))") }
            pale.subtract(red)
        }
        if !pale.isEmpty {
            Issue.record("RFC \(sentence.rfc) section \(sentence.section), no switch fails \(pale.sorted())")
        }
    }

    @Test("Each way to hand secrets to another origin fails an attack, and each attack is failed by one")
    func leaks() async throws {
        let vectors = folder.vectors.filter { vector in
            let isOfAnswers = vector.head.name.hasPrefix("origins: ") && vector.head.right == .attack
            return isOfAnswers || vector.head.name.hasPrefix("origin: secrets ")
        }
        var pale = Set(vectors.map(\.head.name))
        for mutation in Mutation.allCases where mutation.rawValue.hasPrefix("leaks") {
            let red = await redNames(vectors, with: MutantClient(mutation: mutation))
            #expect(!red.isEmpty, "\(mutation)")
            pale.subtract(red)
        }
        #expect(pale.isEmpty)
    }

    @Test("A connection that is opened and never used fails nothing, nor does it to ask again")
    func habits() async throws {
        let names = ["reuse: ", "left over", "connections: "]
        let kept = folder.vectors.filter { names.contains(where: $0.head.name.contains) }
        for habit in [MutantClient.Habit.opensSpares, .asksAgain] {
            let rows = await rows(of: kept, with: MutantClient(habits: [habit]))
            for row in rows where row.isFailure {
                Issue.record("\(habit), \(row.head.name): \(row.outcome)")
            }
            #expect(rows.count { $0.outcome == .passed } > 40)
        }
    }

    @Test("Cookies in another order fail a SHOULD, and cookies that are sent twice what their vectors say")
    func cookies() async throws {
        let vectors = folder.vectors.filter { $0.head.topic == .cookies && $0.head.right != .choice }
        let orders = vectors.filter { $0.head.name.hasPrefix("order:") }
        let backwards = await rows(of: orders, with: MutantClient(habits: [.sendsCookiesBackwards]))
        #expect(backwards.count == 6 && backwards.allSatisfy { $0.brokenRight == .should })
        let twice = await rows(of: vectors, with: MutantClient(habits: [.sendsCookiesTwice]))
        #expect(twice.count { $0.brokenRight == .must } > 50)
    }

    /// The names of those that the client fails by an RFC's demand or an attack.
    private func redNames(_ vectors: [Vector], with client: MutantClient) async -> [String] {
        await rows(of: vectors, with: client).filter { $0.brokenRight == .must || $0.brokenRight == .attack }
            .map(\.head.name)
    }

    private func rows(of vectors: [Vector], with client: MutantClient) async -> [Row] {
        let runner = VectorRunner(client: client, folder: folder, authority: authority)
        return await withTaskGroup(of: Row.self) { group in
            for vector in vectors { group.addTask { await runner.run(vector) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }
}
