import DirectHTTP
import Glibc
import Work

/// The benchmark's work by this package's client, through its public interface and with all defaults.
///
/// `ours WORK key=value...`; peers/bench.h describes the settings. `executor=loop` makes the calls on the
/// client's executor, `executor=task` on the default one, like a program that does not set one.
@main
enum Ours {
    static func main() {
        let settings = Settings(CommandLine.arguments)
        if settings.work == "once", settings.onLoop { return once(settings) }
        // The main thread only waits: it is no executor, and this function does not return.
        Task.detached {
            do {
                try await run(settings)
                exit(0)
            } catch {
                fail("\(error)")
            }
        }
        while true { pause() }
    }

    /// Makes one request on the first thread, as a command-line tool without `async` does.
    private static func once(_ settings: Settings) {
        do { try Works(settings).printOne() } catch { fail("\(error)") }
    }

    private static func run(_ settings: Settings) async throws {
        if settings.work.hasPrefix("cache") { return try await CacheWorks(settings: settings).run() }
        if settings.work.hasPrefix("scale") {
            let works = try ScaleWorks(settings)
            return try await withTaskExecutorPreference(works.client.executor) { try await works.run() }
        }
        let works = Works(settings)
        if settings.onLoop {
            try await withTaskExecutorPreference(works.client.executor) { try await works.run() }
        } else {
            try await works.run()
        }
    }
}
