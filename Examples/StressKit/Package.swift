// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that users of the stress kit do not resolve what is tested here.

let package = Package(
  name: "stress-kit-findings",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "swift-multicast", path: "../.."),
    .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.4"),
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
  ],
  targets: [
    .executableTarget(
      name: "StressFindings",
      dependencies: [
        .product(name: "ConcurrencyStress", package: "swift-multicast"),
        .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
        .product(name: "OpenCombine", package: "OpenCombine"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
