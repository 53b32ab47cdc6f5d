// swift-tools-version: 6.2
import PackageDescription

// A package of its own: its programs have no `main` without `-sanitize=fuzzer`. See `check`.

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
]

let package = Package(
  name: "multicast-fuzz",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "swift-multicast", path: "../..")],
  targets: [
    // Under another name than in the root package: those of targets are unique among all packages.
    .target(
      name: "FuzzedCalls",
      dependencies: [
        .product(name: "Multicast", package: "swift-multicast"),
        .product(name: "ConcurrencyStress", package: "swift-multicast"),
      ],
      path: "CallSequences", swiftSettings: strict),
    .executableTarget(name: "FuzzRegistry", dependencies: ["FuzzedCalls"], swiftSettings: strict),
    .executableTarget(name: "FuzzBuffers", dependencies: ["FuzzedCalls"], swiftSettings: strict),
    .executableTarget(name: "FuzzTopics", dependencies: ["FuzzedCalls"], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
