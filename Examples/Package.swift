// swift-tools-version: 6.2.3
import PackageDescription

let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]
let core: [Target.Dependency] = [
    .product(name: "DirectHTTP", package: "direct-http"),
    .product(name: "TLSFixtures", package: "direct-http"),
]

/// A program that uses the client alone.
func program(_ name: String, _ more: Target.Dependency...) -> Target {
    .executableTarget(name: name, dependencies: core + more, swiftSettings: strict)
}

/// A program that uses URLSession's types, against the servers in Stage.
func foundationProgram(_ name: String) -> Target {
    .executableTarget(
        name: name,
        dependencies: ["Stage", .product(name: "DirectHTTPFoundation", package: "direct-http")],
        swiftSettings: strict
    )
}

// A package of small programs that use direct-http as any other program would. Started without arguments,
// each runs against servers of its own, and ends with 0 only if it did what it promises. The manifest of
// direct-http names the same programs, for scripts/check.
let package = Package(
    name: "direct-http-examples",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "direct-http", path: "..")],
    targets: [
        program("tour"),
        program("feed-reader", .product(name: "DirectResolvers", package: "direct-http")),
        program("webhook-sender"),
        program("mirror"),
        program("event-follower"),
        program("unix-client"),
        program(
            "cookbook",
            .product(name: "DirectResolvers", package: "direct-http"),
            .product(name: "DirectHTTPExtras", package: "direct-http"),
            .product(name: "DirectHTTPJSON", package: "direct-http"),
            .product(name: "DirectHTTPRecords", package: "direct-http")
        ),
        .target(
            name: "Stage",
            dependencies: [
                .product(name: "DirectHTTPFoundation", package: "direct-http"),
                .product(name: "TLSFixtures", package: "direct-http"),
            ],
            swiftSettings: strict
        ),
        foundationProgram("async-session"),
        foundationProgram("bridge"),
        foundationProgram("delegate-session"),
        foundationProgram("request-adapter"),
    ],
    swiftLanguageModes: [.v6]
)
