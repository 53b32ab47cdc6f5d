// swift-tools-version: 6.2
// Not lower: the sources need the syntax and the flags of Swift 6.2. See `.github/SUPPORT.md`.
import CompilerPluginSupport
import PackageDescription

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
]

let package = Package(
  name: "swift-multicast",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Multicast", targets: ["Multicast"]),
    .library(name: "MulticastMacros", targets: ["MulticastMacros"]),
    .library(name: "ConcurrencyStress", targets: ["ConcurrencyStress"]),
    .library(name: "ConcurrencyStressTesting", targets: ["ConcurrencyStressTesting"]),
    .executable(name: "multicast-demo", targets: ["MulticastDemo"]),
    .executable(name: "multicast-bench", targets: ["MulticastBench"]),
    .executable(name: "multicast-stress", targets: ["MulticastStress"]),
  ],
  targets: [
    .target(name: "CMulticast"),
    .target(name: "Multicast", dependencies: ["CMulticast"], swiftSettings: strict),
    .target(name: "MulticastExpansion", swiftSettings: strict),
    .macro(
      name: "MulticastPlugin", dependencies: ["MulticastExpansion"], swiftSettings: strict),
    .target(
      name: "MulticastMacros", dependencies: ["Multicast", "MulticastPlugin"],
      swiftSettings: strict),
    .executableTarget(
      name: "MulticastDemo", dependencies: ["Multicast"], swiftSettings: strict),
    .target(
      name: "BenchmarkHarness", path: "Benchmarks/Harness", swiftSettings: strict),
    .executableTarget(
      name: "MulticastBench",
      dependencies: ["Multicast", "MulticastMacros", "BenchmarkHarness"],
      path: "Benchmarks/MulticastBench",
      swiftSettings: strict),
    .testTarget(
      name: "BenchmarkHarnessTests",
      dependencies: ["BenchmarkHarness"],
      swiftSettings: strict),
    .target(name: "ConcurrencyStress", swiftSettings: strict),
    .target(
      name: "ConcurrencyStressTesting", dependencies: ["ConcurrencyStress"], swiftSettings: strict),
    .target(
      name: "MulticastTestSupport",
      dependencies: ["Multicast", "ConcurrencyStress"],
      path: "Tests/MulticastTestSupport",
      swiftSettings: strict),
    .executableTarget(
      name: "MulticastStress",
      dependencies: ["Multicast", "ConcurrencyStress"],
      swiftSettings: strict),
    .testTarget(
      name: "MulticastTests",
      // The support re-exports the kit; named here, so that a change of the kit rebuilds the tests.
      dependencies: ["Multicast", "MulticastTestSupport", "ConcurrencyStress"],
      swiftSettings: strict),
    .testTarget(
      name: "MulticastMacrosTests",
      dependencies: ["MulticastMacros", "MulticastExpansion", "MulticastTestSupport"],
      swiftSettings: strict),
    // Without upcoming features, which change what a requirement that suspends means.
    .testTarget(name: "MulticastMacrosDefaultTests", dependencies: ["MulticastMacros"]),
    .testTarget(
      name: "MulticastDemoTests",
      dependencies: ["MulticastDemo"],
      swiftSettings: strict),
    .testTarget(
      name: "MulticastStressTests",
      dependencies: ["MulticastStress", "Multicast", "ConcurrencyStress"],
      swiftSettings: strict),
    .target(
      name: "CallSequences",
      dependencies: ["Multicast", "ConcurrencyStress"],
      path: "Tests/Fuzz/CallSequences",
      swiftSettings: strict),
    .testTarget(
      name: "CallSequenceTests",
      dependencies: ["CallSequences", "ConcurrencyStress"],
      swiftSettings: strict),
    .testTarget(
      name: "ConcurrencyStressTests",
      dependencies: ["ConcurrencyStress", "ConcurrencyStressTesting"],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
