internal import CFaults
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
        guard let command = Command(CommandLine.arguments.dropFirst()) else {
            print(Command.usage)
            exit(64)
        }
        exit(command.run())
    }
}
