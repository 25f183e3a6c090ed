// swift-tools-version: 6.2.3
import PackageDescription

// A separate package, so that users of the library do not see it.
let package = Package(
    name: "direct-http-benchmarks",
    dependencies: [.package(name: "direct-http", path: "..")],
    targets: [
        .target(name: "Work", path: "work"),
        .executableTarget(
            name: "foundation",
            dependencies: ["Work", .product(name: "DirectHTTPFoundation", package: "direct-http")],
            path: "foundation",
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
            ]
        ),
        .executableTarget(
            name: "ours",
            dependencies: ["Work", .product(name: "DirectHTTP", package: "direct-http")],
            path: "ours",
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
