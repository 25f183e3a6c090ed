/// Runs vectors against clients, many at a time, and reports the rows in order.
struct Run {
    let folder: VectorFolder
    let vectors: [Vector]
    let clients: [any VectorClient]
    /// The number of vectors to run at the same time. `nil` leaves it to each client.
    var jobs: Int?
    /// The names of vectors that are known to fail.
    var known: Set<String> = []

    /// Runs all vectors against each client in turn.
    ///
    /// - Throws: `FixtureError` if the authority of the servers cannot be read.
    func run(_ report: (Row) -> Void) async throws -> Score {
        var score = Score()
        let authority = try WireAuthority(certificates: folder.certificates)
        for (client, title) in zip(clients, Self.distinct(clients.map(\.title))) {
            let trial = VectorRunner(
                client: client,
                folder: folder,
                authority: authority,
                title: title,
                jobs: jobs
            )
            await inOrder(trial) { row in
                var row = row
                row.isKnown = row.isFailure && known.contains(row.head.name)
                score.count(row)
                report(row)
            }
        }
        return score
    }

    /// Returns the titles with a number behind each that comes again, so that every client has rows of its
    /// own.
    static func distinct(_ titles: [String]) -> [String] {
        var used: Set<String> = []
        return titles.map { title in
            var name = title
            var number = 1
            while !used.insert(name).inserted {
                number += 1
                name = "\(title) (\(number))"
            }
            return name
        }
    }

    /// Runs all vectors, which wait for their turn. Rows are held back until all earlier ones have been
    /// reported.
    private func inOrder(_ trial: VectorRunner, report: (Row) -> Void) async {
        await withTaskGroup(of: (Int, Row).self) { group in
            var waiting: [Int: Row] = [:]
            var reported = 0
            for (index, vector) in vectors.enumerated() {
                group.addTask { (index, await trial.run(vector)) }
            }
            for await (index, row) in group {
                waiting[index] = row
                while let next = waiting.removeValue(forKey: reported) {
                    report(next)
                    reported += 1
                }
            }
        }
    }
}
