// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "direct-http-example-bridge",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "direct-http", path: "../.."),
        .package(name: "direct-http-example-stage", path: "../Stage"),
    ],
    targets: [
        .executableTarget(
            name: "Bridge",
            dependencies: [
                .product(name: "DirectHTTPFoundation", package: "direct-http"),
                .product(name: "Stage", package: "direct-http-example-stage"),
            ],
            swiftSettings: [.treatAllWarnings(as: .error)]
        )
    ],
    swiftLanguageModes: [.v6]
)
