import Dispatch
import DirectHTTP
import Glibc

/// The client under mixed load, against servers that are killed, frozen and replaced (scripts/verify/soak).
///
/// `soak key=value...`; ``SoakSettings`` has the keys. It prints `ready` when its idle state may be measured,
/// begins with the line `go` on its standard input, and stops with `stop`: then all calls end, all clients
/// are released, and the counts are printed, with `rest` as the last line. `back NAME` asks for the time
/// until NAME answers again, `heap` for malloc's figures. It ends with its standard input.
@main
enum Soak {
    static func main() {
        let commands = readCommands()
        Task.detached {
            do {
                try await run(SoakSettings(CommandLine.arguments), obeying: commands)
                exit(0)
            } catch {
                fail("\(error)")
            }
        }
        while true { pause() }
    }

    private static func run(_ settings: SoakSettings, obeying commands: AsyncStream<String>) async throws {
        let ledger = Ledger(machine: MachineWatch())
        try await askForSeveralNames()
        try await loadEverything(settings)
        say("ready")
        for await command in commands {
            let words = command.split(separator: " ")
            switch words.first {
            case "go": Task { try await Callers(settings, ledger).run() }
            case "back": if words.count == 2 { ledger.probes.append(String(words[1])) }
            case "heap": printHeap()
            case "stop":
                ledger.stop()
                await ledger.calm(within: .seconds(30))
                ledger.print()
                say("rest")
            default: fail("unknown command: \(command)")
            }
        }
    }

    /// Makes one call with a client of each kind, so that threads and descriptors that stay are there before
    /// they are counted.
    private static func loadEverything(_ settings: SoakSettings) async throws {
        let clients = try Clients(settings)
        guard let peer = settings.peers.first(where: \.isAlwaysThere) else { fail("no peer to begin with") }
        for client in clients.all {
            let request = HTTPClient.Request(
                .get,
                peer.url("/blob/\(settings.blobs.smallest.name)", relayed: false)
            )
            _ = try await client.fetch(request)
        }
        // Swift's clock keeps a descriptor from the first sleep on.
        try await Task.sleep(for: .milliseconds(1))
    }

    /// Asks a resolver for several names: with optimization the answers once were lost, and no test has that.
    private static func askForSeveralNames() async throws {
        let names = try (0..<40).map { try DomainName("n\($0).test") }
        let answers = await OneByOne().resolve(names, port: 443, context: ResolveContext())
        let right = answers.values.filter { (try? $0.get().endpoints) == ["192.0.2.1"] }
        guard right.count == names.count else { fail("\(right.count) of \(names.count) names are answered") }
    }

    /// The lines of the standard input. Reading them blocks, so it needs a thread of its own.
    private static func readCommands() -> AsyncStream<String> {
        AsyncStream { lines in
            DispatchQueue(label: "commands").async {
                while let line = readLine() { lines.yield(line) }
                lines.finish()
            }
        }
    }
}

/// A resolver that takes its time for each name.
private struct OneByOne: Resolver {
    let name = "one by one"

    func resolve(_ host: DomainName, port: UInt16, context: ResolveContext) async throws -> Resolution {
        try await Task.sleep(for: .milliseconds(5))
        return Resolution(["192.0.2.1"], source: .resolver(name))
    }
}

/// Prints a line that scripts/verify/soak reads. `fflush(nil)` would wait for the thread that reads the
/// standard input, and hold the lock that `fopen` needs meanwhile.
func say(_ line: String) {
    (line + "\n").withCString { text in
        var written = 0
        while written < strlen(text) {
            let count = write(STDOUT_FILENO, text + written, strlen(text) - written)
            guard count > 0 else { fail("nothing reads the output") }
            written += count
        }
    }
}

/// Ends the run: a program that does not work gives no figures.
func fail(_ reason: String) -> Never {
    "soak: \(reason)\n".withCString { _ = write(STDERR_FILENO, $0, strlen($0)) }
    exit(1)
}

/// Prints what malloc holds, as XML in one line.
private func printHeap() {
    // <malloc.h> is not in the Glibc module.
    guard let address = dlsym(nil, "malloc_info") else { fail("no malloc_info") }
    typealias Function = @convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32
    var text: UnsafeMutablePointer<CChar>?
    var length = 0
    guard let file = open_memstream(&text, &length) else { fail("no memory") }
    _ = unsafeBitCast(address, to: Function.self)(0, file)
    fclose(file)
    defer { free(text) }
    if let text { say("heap " + String(cString: text).split(separator: "\n").joined()) }
}
