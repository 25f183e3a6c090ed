internal import SNIProbe

@main
struct Main {
    static func main() {
        ProbeCommand.main(Array(CommandLine.arguments.dropFirst()))
    }
}
