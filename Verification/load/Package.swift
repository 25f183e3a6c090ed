// swift-tools-version: 6.2.3
import PackageDescription

// A separate package, so that users of the library do not see it.
let package = Package(
    name: "direct-http-load",
    dependencies: [.package(name: "direct-http", path: "../..")],
    targets: [
        .executableTarget(
            name: "soak",
            dependencies: [.product(name: "DirectHTTP", package: "direct-http")],
            path: "soak",
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
