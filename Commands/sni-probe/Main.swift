internal import SNIProbe

/// The entry point of `sni-probe`.
@main
struct Main {
    static func main() {
        ProbeCommand.main(Array(CommandLine.arguments.dropFirst()))
    }
}
