internal import CommandKit
internal import DirectCore
internal import DirectTLS

/// The command: parses its arguments and runs or serves the fixtures.
@main
struct Command {
    static func main() async {
        let status = await status(for: Array(CommandLine.arguments.dropFirst()))
        StopSignal.yieldToSignal()
        exit(status)
    }

    /// Runs the command and returns its exit status: 0 for success, 1 if a vector failed or a server could
    /// not be started, 2 for a mistake in the command line or in the vectors.
    static func status(for arguments: [String]) async -> Int32 {
        let options: Options
        do throws(Options.Fault) {
            options = try Options(arguments)
        } catch {
            Terminal.complain("tls-fixtures: \(error.what)\nTry `tls-fixtures --help`.")
            return 2
        }
        switch options {
        case .help:
            Terminal.write(Options.usage)
            return 0
        case .version:
            Terminal.write("tls-fixtures \(PackageVersion.text) (direct-http)\n\(OpenSSLLibrary.version)\n")
            guard FixtureFolder.found != nil else { return 0 }
            return await withFolder(nil) { folder in
                Terminal.write("vectors \(folder.version), \(folder.vectors.count) of them\n")
                return 0
            }
        case .serve(nil, let fixtures):
            return await withFolder(fixtures) { folder in serve(folder) }
        case .serve(let name?, let fixtures):
            return await withFolder(fixtures) { folder in serve(folder, name: name) }
        case .badssl(let options): return serve(options)
        case .run(let options):
            return await withFolder(options.fixtures) { folder in await run(options, folder: folder) }
        case .check(let words): return check(words)
        case .adapterPath:
            guard let folder = adapters else { return 2 }
            Terminal.write(folder + "\n")
            return 0
        case .client: return await JobReader.run(OurClient(keepsTimeLimit: true))
        }
    }

    /// The folder of adapters; `nil`, which is told, if there is none.
    private static var adapters: String? {
        guard let folder = FixtureFolder.found else {
            Terminal.complain("tls-fixtures: found no Fixtures folder")
            return nil
        }
        return "\(folder)/clients"
    }

    /// Becomes the program that checks an adapter.
    private static func check(_ words: [String]) -> Int32 {
        guard let folder = adapters else { return 2 }
        let code = become("python3", ["\(folder)/check"] + words)
        Terminal.complain("tls-fixtures: cannot run python3: \(errnoText(code))")
        return 2
    }

    /// Reads the folder of fixtures and passes it to `body`, or reports what is wrong with it.
    private static func withFolder(_ path: String?, body: (VectorFolder) async -> Int32) async -> Int32 {
        guard let path = path ?? FixtureFolder.found else {
            Terminal.complain("tls-fixtures: found no Fixtures folder; give one with --fixtures")
            return 2
        }
        do throws(VectorFaults) {
            return await body(try VectorFolder(fixtures: path))
        } catch {
            Terminal.complain(
                "\(error)\ntls-fixtures: no vector was run; vectors/README.md describes the format"
            )
            return 2
        }
    }

    private static func run(_ options: Options.RunOptions, folder: VectorFolder) async -> Int32 {
        let topics = options.topics.isEmpty ? Topic.allCases : options.topics
        var vectors = folder.vectors(of: topics)
        if let name = options.name { vectors = vectors.filter { $0.head.name.contains(name) } }
        if !options.rights.isEmpty { vectors = vectors.filter { options.rights.contains($0.head.right) } }
        guard !vectors.isEmpty else {
            Terminal.complain("tls-fixtures: no vector has that text in its name, or that right")
            return 2
        }
        if options.output == .list {
            list(vectors)
            return 0
        }
        StopSignal.endsClients()
        do {
            var baseline = try options.baseline.map {
                try Baseline(file: $0, of: folder.vectors.map(\.head.name))
            }
            let clients = try await clients(options.clients, folder: folder)
            let run = Run(
                folder: folder,
                vectors: vectors,
                clients: clients,
                jobs: options.jobs,
                known: baseline?.known ?? []
            )
            var report = report(options.output, folder, count: vectors.count * clients.count)
            var repetition = Repetition()
            let score = try await run.run { row in
                report.add(row)
                repetition.add(row)
                baseline?.add(row)
            }
            report.finish(score)
            for line in baseline?.lines ?? [] { Terminal.complain(Terminal.harmless(line)) }
            let isSame = try await repeats(run, count: options.repetitions, comparing: &repetition)
            guard score.hasJudged || !score.isGood || !isSame else {
                Terminal.complain("tls-fixtures: nothing was judged, because every vector was left out")
                return 2
            }
            let isGood = baseline.map { $0.isKept && score.broken == 0 } ?? score.isGood
            return isGood && isSame ? 0 : 1
        } catch {
            Terminal.complain("tls-fixtures: \(error)")
            return 2
        }
    }

    /// Runs everything again, and reports what had another verdict. Returns whether nothing had.
    private static func repeats(
        _ run: Run,
        count: Int,
        comparing repetition: inout Repetition
    ) async throws -> Bool {
        guard count > 1 else { return true }
        for number in 2...count {
            let score = try await run.run { repetition.add($0) }
            Terminal.complain("run \(number) of \(count): \(score.lastLine)")
        }
        let differences = repetition.differences
        for text in differences { Terminal.complain(Terminal.harmless(text)) }
        Terminal.complain("\(count) runs, \(differences.count) verdicts differ")
        return differences.isEmpty
    }

    private static func list(_ vectors: [Vector]) {
        for head in vectors.map(\.head) {
            let fields = [head.topic.rawValue, head.name, head.reference].map(Terminal.harmless)
            Terminal.write(fields.joined(separator: "\t") + "\n")
        }
    }

    private static func clients(_ names: [String], folder: VectorFolder) async throws -> [any VectorClient] {
        var clients: [any VectorClient] = []
        for name in names.isEmpty ? ["ours"] : names {
            clients.append(try await client(name, folder: folder))
        }
        return clients
    }

    private static func client(_ name: String, folder: VectorFolder) async throws -> any VectorClient {
        if name == "mutant" { return MutantClient() }
        if name.hasPrefix("mutant:"), let mutation = Mutation(rawValue: String(name.dropFirst(7))) {
            return MutantClient(mutation: mutation)
        }
        return try await ClientChoice.client(name, folder: folder)
    }

    private static func report(
        _ output: Options.RunOptions.Output,
        _ folder: VectorFolder,
        count: Int
    ) -> any Report {
        switch output {
        case .json: JSONReport(vectors: folder.version)
        case .junit: JUnitReport(vectors: folder.version)
        case .failures: FailureReport()
        case .table, .list: TableReport(expectedCount: count, vectors: folder.version)
        }
    }

    private static func serve(_ folder: VectorFolder) -> Int32 {
        let stop = StopSignal()
        do {
            let served = try ServedFixtures(folder)
            Terminal.write(served.map)
            stop.wait()
            served.stop()
            return 0
        } catch {
            Terminal.complain("tls-fixtures: \(error)")
            return 1
        }
    }

    private static func serve(_ options: BadsslServer.Options) -> Int32 {
        let stop = StopSignal()
        do {
            let served = try BadsslServer(options)
            try served.writeFiles()
            Terminal.write(served.list)
            stop.wait()
            served.stop()
            return 0
        } catch {
            Terminal.complain("tls-fixtures: \(error)")
            return 1
        }
    }

    /// Serves the vectors with this text in their names, one after the other.
    private static func serve(_ folder: VectorFolder, name: String) -> Int32 {
        let vectors = folder.vectors.filter { $0.head.name.contains(name) }
        guard !vectors.isEmpty else {
            Terminal.complain("tls-fixtures: no vector has that text in its name")
            return 2
        }
        let stop = StopSignal()
        do {
            let authority = try WireAuthority(certificates: folder.certificates)
            for vector in vectors {
                guard case .plans(let plans) = vector.trials(folder, authority: authority, codings: []) else {
                    Terminal.complain("\(vector.head.name): it cannot be shown over a network")
                    continue
                }
                for plan in plans where !plan.isThorough {
                    let trial = try plan.start()
                    Terminal.write(ServedVector(head: vector.head, label: plan.label, job: trial.job).text)
                    guard stop.waitForLine() else { return 0 }
                    _ = trial
                }
            }
            return 0
        } catch {
            Terminal.complain("tls-fixtures: \(error)")
            return 1
        }
    }
}
