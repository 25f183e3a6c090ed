// swift-tools-version: 6.2.3
import PackageDescription

// Turns on direct-http's trait for an app: a project of Xcode adds this package, and no direct-http of its
// own.
let package = Package(
    name: "AppHTTP",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [.library(name: "AppHTTP", targets: ["AppHTTP"])],
    dependencies: [
        // In your app: .package(url: "https://…/direct-http.git", revision: "…", traits: ["OpenSSLPackage"])
        .package(name: "direct-http", path: "../../..", traits: ["OpenSSLPackage"])
    ],
    targets: [
        .target(
            name: "AppHTTP",
            dependencies: [
                .product(name: "DirectHTTP", package: "direct-http"),
                .product(name: "DirectHTTPFoundation", package: "direct-http"),
                .product(name: "DirectProxy", package: "direct-http"),
                .product(name: "DirectResolvers", package: "direct-http"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
