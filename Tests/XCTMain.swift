import Testing

/// The program of all tests. SwiftPM takes a file of this name for it; without one it looks for tests of XCTest, which takes an
/// index of all sources and, on Linux, costs a tenth of the build. SwiftPM then takes it for one of XCTest's, so that
/// `swift test --filter` also needs `--enable-swift-testing --disable-xctest`.
@main
struct TestProgram {
    static func main() async {
        // SwiftPM shows this text in its error.
        if CommandLine.arguments.contains("--dump-tests-json") {
            return print("use scripts/test --part, or add --enable-swift-testing --disable-xctest")
        }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
