internal import CSimulation
internal import CommandKit
internal import DirectCore
internal import DirectIO
internal import Glibc

/// `simulate`: runs the client in simulated worlds, each made from a seed.
@main
struct Simulate {
    /// A client's settings mention the shared loop, and its thread must be a real one. It has to run nothing:
    /// calls without a loop of their own have limits by its clock, which would end outside of their world.
    private static func stopSharedLoop() {
        let hasStopped = Locked(false)
        Task(executorPreference: EventLoop.shared) {
            hasStopped.withLock { $0 = true }
            waitForEver()
        }
        while !hasStopped.withLock({ $0 }) { sched_yield() }
    }

    private static func waitForEver() { while true { pause() } }

    static func main() {
        sim_keep_freed_memory()
        sim_make_deterministic(CommandLine.unsafeArgv)
        guard sim_is_effective() == 1 else {
            return fail("this build cannot replace functions of the C library")
        }
        guard sim_watch_memory() == 1 else { return fail("OpenSSL has begun too early") }
        sim_seed_outside(1)
        sim_seed_openssl()
        stopSharedLoop()
        Kernel.install()
        sim_enter(1)
        _ = Material.shared
        _ = Pattern.bytes(0, count: 1)
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
