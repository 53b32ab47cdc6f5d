// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that users of the library do not resolve what it is compared with.

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
]

let package = Package(
  name: "multicast-peers",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "multicast-peers", targets: ["MulticastPeers"])],
  dependencies: [
    .package(name: "swift-multicast", path: "../.."),
    .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.4"),
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
  ],
  targets: [
    // The harness of the root package: by a symbolic link, because a target cannot lie outside of
    // its package; and under another name, because those of targets are unique among all packages.
    .target(name: "PeersHarness", path: "Sources/Harness", swiftSettings: strict),
    .target(name: "CSignals2"),
    .target(name: "CFunctionList"),
    .executableTarget(
      name: "MulticastPeers",
      dependencies: [
        "PeersHarness",
        "CSignals2",
        "CFunctionList",
        .product(name: "Multicast", package: "swift-multicast"),
        .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
        .product(name: "OpenCombine", package: "OpenCombine"),
        .product(name: "OpenCombineDispatch", package: "OpenCombine"),
      ],
      // Compiled and run by a JDK, in a process of its own.
      resources: [.copy("Java/CopyOnWriteList.java")],
      swiftSettings: strict + [
        .unsafeFlags(["-module-alias", "BenchmarkHarness=PeersHarness"])
      ]),
  ],
  swiftLanguageModes: [.v6],
  cxxLanguageStandard: .cxx17
)
