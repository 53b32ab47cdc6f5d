// swift-tools-version: 6.2
import PackageDescription

// A package of its own, because the library has no dependencies.

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
]

let multicast: Target.Dependency = .product(name: "Multicast", package: "swift-multicast")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "CoreMetrics", package: "swift-metrics")
let tracing: Target.Dependency = .product(name: "Tracing", package: "swift-distributed-tracing")

let package = Package(
  name: "multicast-observability",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "MulticastLogging", targets: ["MulticastLogging"]),
    .library(name: "MulticastMetrics", targets: ["MulticastMetrics"]),
    .library(name: "MulticastTracing", targets: ["MulticastTracing"]),
  ],
  dependencies: [
    .package(name: "swift-multicast", path: "../.."),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
  ],
  targets: [
    .target(name: "HubPolling", dependencies: [multicast], swiftSettings: strict),
    .target(
      name: "MulticastLogging", dependencies: ["HubPolling", multicast, logging],
      swiftSettings: strict),
    .target(
      name: "MulticastMetrics", dependencies: ["HubPolling", multicast, metrics],
      swiftSettings: strict),
    .target(
      name: "MulticastTracing", dependencies: [multicast, tracing], swiftSettings: strict),
    // The program of the README.
    .executableTarget(
      name: "ObservabilityExample",
      dependencies: [
        "MulticastLogging", "MulticastMetrics", "MulticastTracing", multicast, logging, metrics,
        tracing,
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
      ]),
    .testTarget(
      name: "ObservabilityTests",
      dependencies: [
        "MulticastLogging", "MulticastMetrics", "MulticastTracing", "ObservabilityExample",
        multicast,
        logging, metrics, tracing,
        .product(name: "InMemoryLogging", package: "swift-log"),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
      ],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
