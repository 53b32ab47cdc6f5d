// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
]

let package = Package(
  name: "fan-out-server",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "fan-out-server", targets: ["FanOutServer"]),
    .library(name: "FanOut", targets: ["FanOut"]),
  ],
  traits: [
    .trait(name: "NATS", description: "The option --relay. Needs the C library libnats (cnats).")
  ],
  dependencies: [
    .package(name: "swift-multicast", path: "../.."),
    .package(name: "multicast-observability", path: "../Observability"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/vapor/jwt-kit.git", from: "5.7.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
  ],
  targets: [
    .target(
      name: "FanOutCore",
      dependencies: [
        .product(name: "Multicast", package: "swift-multicast"),
        .product(name: "MulticastLogging", package: "multicast-observability"),
        .product(name: "MulticastMetrics", package: "multicast-observability"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
        .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      resources: [
        .embedInCode("Page/page.html"), .embedInCode("Page/client.js"),
        .embedInCode("Page/openapi.json"),
      ],
      swiftSettings: strict),
    // Apart, because it builds BoringSSL.
    .target(
      name: "FanOutJWT",
      dependencies: [
        "FanOutCore",
        .product(name: "JWTKit", package: "jwt-kit"),
        .product(name: "Multicast", package: "swift-multicast"),
      ],
      swiftSettings: strict),
    .target(
      name: "FanOut",
      dependencies: [
        "FanOutCore",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict),
    .target(
      name: "MCPEventStore",
      dependencies: [.product(name: "Multicast", package: "swift-multicast")],
      swiftSettings: strict),
    .executableTarget(
      name: "KitExample",
      dependencies: ["FanOut", .product(name: "Hummingbird", package: "hummingbird")]),
    .target(
      name: "SQLiteStore",
      dependencies: [
        "FanOutCore",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Multicast", package: "swift-multicast"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOFoundationCompat", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict),
    .systemLibrary(name: "CNATS", providers: [.apt(["libnats-dev"]), .brew(["cnats"])]),
    // Empty without the trait.
    .target(
      name: "NATSRelay",
      dependencies: [
        .target(name: "CNATS", condition: .when(traits: ["NATS"])),
        "FanOutCore",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Multicast", package: "swift-multicast"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "FanOutServer",
      dependencies: [
        "FanOutCore",
        "FanOutJWT",
        .target(name: "NATSRelay", condition: .when(traits: ["NATS"])),
        "SQLiteStore",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "FanOutServerTests",
      dependencies: [
        "FanOut",
        "FanOutCore",
        "FanOutJWT",
        "FanOutServer",
        "KitExample",
        "MCPEventStore",
        "SQLiteStore",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "InMemoryLogging", package: "swift-log"),
        .product(name: "JWTKit", package: "jwt-kit"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Multicast", package: "swift-multicast"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "NATSRelayTests",
      dependencies: [
        .target(name: "CNATS", condition: .when(traits: ["NATS"])),
        "FanOutCore",
        "FanOutServer",
        "NATSRelay",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Multicast", package: "swift-multicast"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
