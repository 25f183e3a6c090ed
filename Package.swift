// swift-tools-version: 6.2.3
import PackageDescription

let commonSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// For the targets that do not talk to C: every unsafe expression must say so.
let memorySafe: [SwiftSetting] = commonSettings + [.strictMemorySafety()]

// SwiftPM generates code that imports Foundation for each target with resources, so only Apple's systems have
// this one.
#if os(Linux)
let privacyManifest: (excluded: [String], resources: [Resource]) = (["PrivacyInfo.xcprivacy"], [])
#else
let privacyManifest: (excluded: [String], resources: [Resource]) = ([], [.copy("PrivacyInfo.xcprivacy")])
#endif

let package = Package(
    name: "direct-http",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .visionOS(.v2)],
    products: [
        .library(name: "DirectHTTP", targets: ["DirectHTTP"]),
        .library(name: "DirectResolvers", targets: ["DirectResolvers"]),
        .library(name: "DirectHTTPJSON", targets: ["DirectHTTPJSON"]),
        .library(name: "DirectHTTPRecords", targets: ["DirectHTTPRecords"]),
        .library(name: "DirectHTTPExtras", targets: ["DirectHTTPExtras"]),
        .library(name: "DirectHTTPHosts", targets: ["DirectHTTPHosts"]),
        .library(name: "DirectHTTPFoundation", targets: ["DirectHTTPFoundation"]),
        .library(name: "DirectProxy", targets: ["DirectProxy"]),
        .library(name: "TLSFixtures", targets: ["TLSFixtures"]),
        .executable(name: "tls-fixtures", targets: ["tls-fixtures"]),
        .executable(name: "sni-probe", targets: ["sni-probe"]),
        .executable(name: "direct-proxy", targets: ["direct-proxy"]),
    ],
    traits: [
        .trait(
            name: "OpenSSLPackage",
            description: "Takes OpenSSL from a package with a framework, for apps (docs/Apple.md)."
        ),
        .trait(name: "Brotli", description: "Decodes the content coding br; needs libbrotli."),
        .trait(name: "Zstd", description: "Decodes the content coding zstd; needs libzstd."),
    ],
    dependencies: [
        // Only with the trait: without it SwiftPM does not fetch it. The version is exact, because it is a
        // root of trust.
        .package(url: "https://github.com/krzyzanowskim/OpenSSL-Package.git", exact: "3.6.3000")
    ],
    targets: [
        // Without `link` in its map of modules: an app's linker would look for a system's libssl in vain.
        .target(
            name: "CDirectOpenSSL",
            dependencies: [
                .target(name: "CSystemOpenSSL", condition: .when(platforms: [.linux, .macOS])),
                .product(
                    name: "OpenSSL",
                    package: "OpenSSL-Package",
                    condition: .when(traits: ["OpenSSLPackage"])
                ),
            ],
            publicHeadersPath: ".",
            linkerSettings: [
                .linkedLibrary("ssl", .when(platforms: [.linux])),
                .linkedLibrary("crypto", .when(platforms: [.linux])),
            ]
        ),
        .systemLibrary(
            name: "CSystemOpenSSL",
            pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]
        ),
        .systemLibrary(name: "CDirectLinux"),
        .systemLibrary(name: "CDirectSecurity"),
        .systemLibrary(
            name: "CDirectZlib",
            pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]
        ),
        // Without pkgConfig: SwiftPM would warn of their absence where nobody asks for them.
        .systemLibrary(name: "CDirectBrotli"),
        .systemLibrary(name: "CDirectZstd"),

        .target(name: "DirectCore", swiftSettings: memorySafe),
        .target(
            name: "DirectIO",
            dependencies: ["DirectCore", "CDirectLinux"],
            exclude: privacyManifest.excluded,
            resources: privacyManifest.resources,
            swiftSettings: commonSettings
        ),
        .target(
            name: "DirectTLS",
            dependencies: ["DirectCore", "CDirectOpenSSL", "CDirectSecurity"],
            swiftSettings: commonSettings,
            linkerSettings: [
                .linkedFramework("CoreFoundation", .when(platforms: [.macOS, .iOS, .tvOS, .visionOS])),
                .linkedFramework("Security", .when(platforms: [.macOS, .iOS, .tvOS, .visionOS])),
            ]
        ),
        .target(name: "DirectLookup", dependencies: ["DirectCore", "DirectIO"], swiftSettings: memorySafe),
        .target(name: "DirectHTTP1", swiftSettings: memorySafe),
        .target(
            name: "DirectCoding",
            dependencies: [
                "CDirectZlib",
                .target(name: "CDirectBrotli", condition: .when(traits: ["Brotli"])),
                .target(name: "CDirectZstd", condition: .when(traits: ["Zstd"])),
            ],
            swiftSettings: commonSettings
        ),
        .target(name: "DirectJSON", dependencies: ["DirectCore"], swiftSettings: memorySafe),
        .target(
            name: "DirectTransport",
            dependencies: ["DirectCore", "DirectIO", "DirectLookup", "DirectTLS", "DirectHTTP1"],
            swiftSettings: memorySafe
        ),
        .target(
            name: "DirectHTTP",
            dependencies: [
                "DirectCore", "DirectIO", "DirectLookup", "DirectTLS", "DirectHTTP1", "DirectTransport",
                "DirectCoding", "DirectJSON",
            ],
            swiftSettings: memorySafe
        ),
        .target(
            name: "DirectResolvers",
            dependencies: [
                "DirectHTTP", "DirectTransport", "DirectCore", "DirectIO", "DirectTLS", "DirectJSON",
            ],
            swiftSettings: memorySafe
        ),
        .target(name: "DirectHTTPJSON", dependencies: ["DirectHTTP"], swiftSettings: memorySafe),
        .target(
            name: "DirectHTTPRecords",
            dependencies: [
                "DirectHTTP", "DirectCore", "DirectIO", "DirectHTTP1", "DirectTransport", "DirectCoding",
                "DirectJSON",
            ],
            swiftSettings: memorySafe
        ),
        .target(
            name: "DirectHTTPExtras",
            dependencies: ["DirectHTTP", "DirectCore", "DirectIO"],
            swiftSettings: memorySafe
        ),
        .target(name: "DirectHTTPHosts", dependencies: ["DirectHTTP"], swiftSettings: memorySafe),
        .target(
            name: "DirectHTTPFoundation",
            dependencies: ["DirectHTTP", "DirectHTTPJSON", "DirectCore", "DirectIO"],
            swiftSettings: commonSettings
        ),
        // What a client and a server of TLS say first, as bytes.
        .target(name: "DirectHello", dependencies: ["DirectCore"], swiftSettings: memorySafe),
        .target(
            name: "DirectProxy",
            dependencies: [
                "DirectHello", "DirectLookup", "DirectTransport", "DirectCore", "DirectIO", "DirectTLS",
                "DirectHTTP1",
            ],
            swiftSettings: memorySafe
        ),
        .target(
            name: "TLSFixtures",
            dependencies: ["CDirectOpenSSL", "DirectHello"],
            swiftSettings: commonSettings
        ),
        .target(
            name: "CommandKit",
            dependencies: ["DirectCore", "DirectIO", "CDirectLinux"],
            path: "Commands/CommandKit",
            swiftSettings: commonSettings
        ),
        .executableTarget(
            name: "tls-fixtures",
            dependencies: [
                "CommandKit", "DirectCore", "DirectIO", "DirectTLS", "DirectHTTP", "DirectHTTP1",
                "DirectCoding", "DirectJSON", "DirectHello",
                "TLSFixtures", "CDirectOpenSSL",
            ],
            path: "Commands/tls-fixtures",
            swiftSettings: commonSettings
        ),
        .target(
            name: "SNIProbe",
            dependencies: [
                "CommandKit", "DirectHello", "DirectCore", "DirectIO", "DirectTLS", "DirectTransport",
                "DirectHTTP", "DirectJSON", "DirectResolvers", "TLSFixtures",
            ],
            path: "Commands/SNIProbe",
            swiftSettings: commonSettings
        ),
        .executableTarget(
            name: "sni-probe",
            dependencies: ["SNIProbe"],
            path: "Commands/sni-probe",
            swiftSettings: commonSettings
        ),
        .executableTarget(
            name: "direct-proxy",
            dependencies: [
                "CommandKit", "DirectProxy", "DirectResolvers", "DirectCore", "DirectIO",
            ],
            path: "Commands/direct-proxy",
            swiftSettings: commonSettings
        ),

        .testTarget(
            name: "DirectCoreTests",
            dependencies: ["DirectCore", "DirectIO", "DirectTestData"],
            swiftSettings: commonSettings
        ),
        .testTarget(
            name: "DirectIOTests",
            dependencies: [
                "DirectCore", "DirectIO", "DirectTestCommands", "DirectTestData", "DirectTestModels",
                "DirectTestPeers", "DirectTestTime",
            ],
            swiftSettings: commonSettings
        ),
        .testTarget(
            name: "DirectTLSTests",
            dependencies: ["DirectTLS", "DirectCore", "TLSFixtures", "CDirectOpenSSL", "DirectTestCommands"],
            swiftSettings: commonSettings
        ),
        .testTarget(
            name: "DirectHTTP1Tests",
            dependencies: ["DirectHTTP1", "DirectTestData"],
            swiftSettings: commonSettings
        ),
        .testTarget(
            name: "DirectCodingTests",
            dependencies: ["DirectCoding", "DirectTestData"],
            swiftSettings: commonSettings
        ),
        .testTarget(name: "DirectJSONTests", dependencies: ["DirectJSON"], swiftSettings: commonSettings),
        .testTarget(
            name: "DirectTransportTests",
            dependencies: [
                "DirectTransport", "DirectCore", "DirectIO", "DirectTLS", "DirectHTTP1", "DirectTestData",
                "DirectTestModels",
            ],
            swiftSettings: commonSettings
        ),
        .testTarget(
            name: "DirectHTTPTests",
            dependencies: [
                "DirectHTTP", "DirectHTTPRecords", "DirectResolvers", "DirectTransport", "DirectCore",
                "DirectIO",
                "DirectTLS", "DirectHTTP1", "DirectCoding", "TLSFixtures", "DirectTestCommands",
                "DirectTestData",
                "DirectTestPeers", "DirectTestResolvers", "DirectTestTime",
            ],
            swiftSettings: commonSettings
        ),
        .testTarget(
            name: "DirectResolversTests",
            dependencies: [
                "DirectResolvers", "DirectHTTP", "DirectCore", "DirectIO", "DirectTLS", "TLSFixtures",
                "DirectTestCommands", "DirectTestData", "DirectTestPeers", "DirectTestResolvers",
                "DirectTestModels", "DirectTestTime",
            ],
            swiftSettings: commonSettings
        ),
        .testTarget(
            name: "DirectHTTPExtrasTests",
            dependencies: [
                "DirectHTTPExtras", "DirectHTTP", "DirectCore", "DirectIO", "TLSFixtures",
                "DirectTestCommands", "DirectTestTime",
            ],
            swiftSettings: commonSettings
        ),
        .testTarget(
            name: "DirectProxyTests",
            dependencies: [
                "DirectProxy", "DirectHello", "direct-proxy", "CommandKit", "DirectHTTP", "DirectTransport",
                "DirectCore", "DirectIO", "DirectHTTP1",
                "DirectTestCommands", "DirectTestData", "DirectTestPeers", "DirectTestResolvers",
                "DirectTestTime",
                "TLSFixtures",
            ],
            swiftSettings: commonSettings
        ),
        .testTarget(
            name: "DirectHTTPHostsTests",
            dependencies: ["DirectHTTPHosts", "DirectHTTP", "DirectTestData"],
            exclude: ["Data"],
            swiftSettings: commonSettings
        ),
        .testTarget(
            name: "DirectHTTPFoundationTests",
            dependencies: [
                "DirectHTTPFoundation", "DirectHTTPJSON", "DirectHTTPRecords", "DirectHTTPExtras",
                "DirectHTTPHosts", "DirectHTTP",
                "DirectIO",
                "TLSFixtures",
                "DirectTestCommands", "DirectTestData", "DirectTestTime", "DirectCore", "DirectResolvers",
                "DirectProxy",
            ],
            swiftSettings: commonSettings
        ),
        .testTarget(
            name: "TLSFixturesTests",
            dependencies: ["TLSFixtures", "DirectTestCommands"],
            swiftSettings: commonSettings
        ),
        .testTarget(
            name: "SNIProbeTests",
            dependencies: [
                "SNIProbe", "sni-probe", "DirectHello", "DirectHTTP", "DirectResolvers", "DirectJSON",
                "TLSFixtures", "DirectTestCommands", "DirectTestData", "DirectTestPeers", "DirectTestTime",
                "DirectIO",
            ],
            exclude: ["Golden"],
            swiftSettings: commonSettings
        ),
        .target(
            name: "DirectTestTime",
            dependencies: ["DirectCore", "DirectIO"],
            path: "Tests/DirectTestTime",
            swiftSettings: commonSettings
        ),
        .target(
            name: "DirectTestPeers",
            dependencies: ["DirectCore", "DirectIO", "DirectTestCommands"],
            path: "Tests/DirectTestPeers",
            swiftSettings: commonSettings
        ),
        .target(
            name: "DirectTestData",
            dependencies: ["CDirectZlib"],
            path: "Tests/DirectTestData",
            swiftSettings: commonSettings
        ),
        .target(
            name: "DirectTestModels",
            path: "Tests/DirectTestModels",
            swiftSettings: commonSettings
        ),
        .target(
            name: "DirectTestResolvers",
            dependencies: ["DirectHTTP", "DirectCore", "DirectIO", "DirectTestTime"],
            path: "Tests/DirectTestResolvers",
            swiftSettings: commonSettings
        ),
        .target(
            name: "DirectTestCommands",
            dependencies: ["CommandKit"],
            path: "Tests/DirectTestCommands",
            swiftSettings: commonSettings
        ),
        .testTarget(
            name: "VectorsTests",
            dependencies: [
                "tls-fixtures", "CommandKit", "DirectCore", "DirectHTTP1", "DirectJSON", "DirectTestCommands",
                "DirectTestData", "TLSFixtures",
            ],
            swiftSettings: commonSettings
        ),

        // No product: it puts the client before the harnesses of public suites (scripts/suites).
        .executableTarget(
            name: "suite-adapter",
            dependencies: ["CommandKit", "DirectHTTP", "DirectResolvers", "DirectTLS"],
            path: "Verification/suite-adapter",
            swiftSettings: commonSettings
        ),
        // No product: the figures of docs/Resolvers.md (scripts/bench dialling).
        .executableTarget(
            name: "dialling",
            dependencies: [
                "DirectHTTP", "DirectResolvers", "TLSFixtures", "DirectCore", "DirectIO",
            ],
            path: "Benchmarks/dialling",
            swiftSettings: commonSettings
        ),
    ],
    swiftLanguageModes: [.v6]
)

#if os(Linux)
// The client in a simulated world (scripts/simulate), which replaces functions of glibc. These targets are no
// products.
package.targets += [
    .target(
        name: "CSimulation",
        dependencies: ["CDirectOpenSSL", "CDirectZlib"],
        path: "Verification/CSimulation"
    ),
    .executableTarget(
        name: "simulate",
        dependencies: [
            "CSimulation", "CommandKit", "DirectCore", "DirectIO", "DirectTLS", "DirectHTTP",
            "DirectHTTPExtras", "DirectLookup", "DirectProxy", "DirectResolvers", "DirectTransport",
            "TLSFixtures",
        ],
        path: "Verification/simulate",
        swiftSettings: commonSettings
    ),
    // The client while calls of the system fail (scripts/verify/faults).
    .target(name: "CFaults", dependencies: ["CDirectOpenSSL"], path: "Verification/CFaults"),
    .executableTarget(
        name: "faults",
        dependencies: [
            "CFaults", "CommandKit", "DirectCore", "DirectIO", "DirectTLS", "DirectHTTP", "DirectProxy",
            "DirectResolvers", "TLSFixtures",
        ],
        path: "Verification/faults",
        swiftSettings: commonSettings
    ),
    // Encrypted Client Hello with the OpenSSL of another release (scripts/openssl).
    .executableTarget(
        name: "encrypted-hello",
        dependencies: ["DirectTransport", "DirectCore", "DirectIO", "DirectTLS", "TLSFixtures"],
        path: "Verification/encrypted-hello",
        swiftSettings: commonSettings
    ),
    // The client of the laboratory (scripts/lab).
    .executableTarget(
        name: "lab-client",
        dependencies: ["DirectHTTP", "DirectResolvers"],
        path: "Verification/lab-client",
        swiftSettings: commonSettings
    ),
]
#endif

// The scripts name targets here: the package is these and what they need. SwiftPM compiles all test targets of a
// package for any test, so a part is tested in a fraction of the time, and the programs of Verification are
// compiled by what runs them. Without the variable the package is whole.
if let parts = Context.environment["DIRECT_HTTP_PARTS"] {
    // As a package of its own, which is how `scripts/demo` builds it, Examples compiles the libraries again.
    package.targets += ["tour", "webhook-sender", "mirror", "event-follower", "unix-client"].map {
        example($0)
    }
    package.targets.append(example("feed-reader", "DirectResolvers"))
    package.targets.append(
        example("cookbook", "DirectResolvers", "DirectHTTPExtras", "DirectHTTPJSON", "DirectHTTPRecords")
    )
    package.targets += ["async-session", "bridge", "delegate-session", "request-adapter"].map {
        example($0, "DirectHTTPFoundation", "Stage")
    }
    package.targets.append(
        .target(
            name: "Stage",
            dependencies: ["DirectHTTPFoundation", "TLSFixtures"],
            path: "Examples/Sources/Stage",
            packageAccess: false
        )
    )
    var needed = parts.split(separator: ",").map(String.init)
    // A program that tests of caches in folders run and kill.
    if needed.contains("DirectHTTPTests") { needed.append("suite-adapter") }
    package.keep(onlyWhatIsNeededBy: needed)
}

/// An example sees what any other program would.
func example(_ name: String, _ more: Target.Dependency...) -> Target {
    .executableTarget(
        name: name,
        dependencies: ["DirectHTTP", "TLSFixtures"] + more,
        path: "Examples/Sources/\(name)",
        packageAccess: false
    )
}

extension Package {
    func keep(onlyWhatIsNeededBy names: [String]) {
        var needed: Set<String> = []
        var open = names
        while let name = open.popLast() {
            guard needed.insert(name).inserted else { continue }
            guard let target = targets.first(where: { $0.name == name }) else {
                fatalError("DIRECT_HTTP_PARTS: there is no target \(name)")
            }
            for dependency in target.dependencies {
                switch dependency {
                case .byNameItem(let name, _), .targetItem(let name, _): open.append(name)
                default: break
                }
            }
        }
        targets.removeAll { !needed.contains($0.name) }
        // SwiftPM fetches a package that no target has a condition for.
        if !needed.contains("CDirectOpenSSL") { dependencies = [] }
        products.removeAll { product in
            let targets =
                (product as? Product.Library)?.targets ?? (product as? Product.Executable)?.targets ?? []
            return !targets.allSatisfy(needed.contains)
        }
    }
}
