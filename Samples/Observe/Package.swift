// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Observe",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "watchrun", path: "../..")],
  targets: [
    .executableTarget(
      name: "observe",
      dependencies: [
        .product(name: "FileObservation", package: "watchrun"),
        .product(name: "ActionRunning", package: "watchrun"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
