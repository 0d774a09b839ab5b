// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "watchrun", path: "..")],
  targets: [
    // Needs `-Xswiftc -enable-testing`, because the benchmarks use internal API. `instructions`
    // builds it.
    .executableTarget(
      name: "micro",
      dependencies: [
        .product(name: "ActionRunning", package: "watchrun"),
        .product(name: "FileObservation", package: "watchrun"),
        .product(name: "PathFiltering", package: "watchrun"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
