// swift-tools-version: 6.3
import PackageDescription

// One package for all situations: each is a small program, and what they build on is built once.
let package = Package(
    name: "direct-http-urlsession-examples",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "direct-http", path: "../..")],
    targets: [
        .target(
            name: "Stage",
            dependencies: [
                .product(name: "DirectHTTPFoundation", package: "direct-http"),
                .product(name: "TLSFixtures", package: "direct-http"),
            ],
            swiftSettings: [.treatAllWarnings(as: .error)]
        )
    ]
        + ["session", "delegate", "bridge", "adapter"].map { name in
            .executableTarget(
                name: name,
                dependencies: ["Stage", .product(name: "DirectHTTPFoundation", package: "direct-http")],
                swiftSettings: [.treatAllWarnings(as: .error)]
            )
        },
    swiftLanguageModes: [.v6]
)
