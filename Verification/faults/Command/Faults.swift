internal import CFaults
internal import CommandKit
internal import DirectIO
internal import Glibc

/// `faults`: runs the client while calls of the system fail, one by one.
@main
struct Faults {
    static func main() {
        guard flt_prepare() == 1 else {
            print("faults: this build cannot replace functions of the C library")
            exit(70)
        }
        do throws(ArgumentReader.Fault) {
            exit(try Command(CommandLine.arguments.dropFirst()).run())
        } catch {
            print(error.what)
            exit(64)
        }
    }
}
