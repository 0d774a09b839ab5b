// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "watchrun", path: "..")],
  targets: [
    .executableTarget(
      name: "verdicts",
      dependencies: [.product(name: "PathFiltering", package: "watchrun")])
  ],
  swiftLanguageModes: [.v6]
)
