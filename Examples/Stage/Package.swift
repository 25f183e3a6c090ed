// swift-tools-version: 6.3
import PackageDescription

// The server and the checks that the examples for users of URLSession share. Nothing else uses this package.
let package = Package(
    name: "direct-http-example-stage",
    platforms: [.macOS(.v15)],
    products: [.library(name: "Stage", targets: ["Stage"])],
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
    ],
    swiftLanguageModes: [.v6]
)
