internal import CSimulation
internal import CommandKit
internal import DirectIO
internal import Glibc

/// `simulate`: runs the client in simulated worlds, each made from a seed.
@main
struct Simulate {
    static func main() {
        sim_keep_freed_memory()
        sim_make_deterministic(CommandLine.unsafeArgv)
        guard sim_is_effective() == 1 else {
            return fail("this build cannot replace functions of the C library")
        }
        guard sim_watch_memory() == 1 else { return fail("OpenSSL has begun too early") }
        sim_seed_outside(1)
        sim_seed_openssl()
        // A client's settings mention it, and its thread must be a real one.
        _ = EventLoop.shared
        Kernel.install()
        sim_enter(1)
        _ = Material.shared
        _ = Pattern.bytes(0, count: 1)
        guard !ReplyVector.names.isEmpty else {
            return fail("there is no Fixtures/vectors here: run it in the project's folder")
        }
        // What is made once, on first use, is made before the first world that counts.
        for seed in 0..<20 { _ = World.run(Plan(seed: UInt64(seed))) }
        do throws(ArgumentReader.Fault) {
            exit(try Command(CommandLine.arguments.dropFirst()).run())
        } catch {
            fail(error.what)
        }
    }

    private static func fail(_ words: String) {
        print("simulate: \(words)")
        exit(64)
    }
}
