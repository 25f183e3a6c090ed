import DirectHTTP
import Glibc

/// The client doing the benchmark's work through its public interface, with every default on.
///
/// `ours WORK key=value...`, as peers/bench.h describes it. `executor=loop` makes the calls on the client's
/// executor, `executor=task` on the default one, like any program that does not think of it.
@main
enum Ours {
    static func main() {
        // The main thread stays out of the way: it is no executor and never returns from here.
        Task.detached {
            do {
                try await run(Settings(CommandLine.arguments))
                exit(0)
            } catch {
                fail("\(error)")
            }
        }
        while true { pause() }
    }

    private static func run(_ settings: Settings) async throws {
        if settings.work.hasPrefix("cache") { return try await CacheWorks(settings: settings).run() }
        let works = Works(settings)
        if settings.onLoop {
            try await withTaskExecutorPreference(works.client.executor) { try await works.run() }
        } else {
            try await works.run()
        }
    }
}

/// Ends the run: a figure from wrong responses must not come out of it.
func fail(_ reason: String) -> Never {
    "error: \(reason)\n".withCString { _ = write(STDERR_FILENO, $0, strlen($0)) }
    exit(1)
}
