import Testing

/// The program of all tests. SwiftPM takes a file of this name for it; without one it looks for tests of XCTest, which takes an
/// index of all sources and, on Linux, costs a tenth of the build.
@main
struct AllTests {
    static func main() async {
        await Testing.__swiftPMEntryPoint() as Never
    }
}
