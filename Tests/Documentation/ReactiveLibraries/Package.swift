// swift-tools-version: 6.2
import PackageDescription

// The libraries of `Tests/Documentation/check --reactive`.

let package = Package(
  name: "documented-reactive-libraries",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(url: "https://github.com/ReactiveX/RxSwift", from: "6.9.1"),
    .package(url: "https://github.com/ReactiveCocoa/ReactiveSwift", from: "7.2.1"),
  ],
  targets: [
    .target(
      name: "ReactiveLibraries",
      dependencies: [
        .product(name: "RxSwift", package: "RxSwift"),
        .product(name: "ReactiveSwift", package: "ReactiveSwift"),
      ])
  ])
