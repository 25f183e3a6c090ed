// swift-tools-version: 6.3
import PackageDescription

// A separate package that uses direct-http as any other program would.
let package = Package(
    name: "direct-http-tour",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "direct-http", path: "../..")],
    targets: [
        .executableTarget(
            name: "tour",
            dependencies: [
                .product(name: "DirectHTTP", package: "direct-http"),
                .product(name: "TLSFixtures", package: "direct-http"),
            ],
            swiftSettings: [.treatAllWarnings(as: .error)]
        )
    ],
    swiftLanguageModes: [.v6]
)
