// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Observe",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "watchrun", path: "../..")
  ],
  targets: [
    .executableTarget(
      name: "observe",
      dependencies: [
        .product(name: "FileObservation", package: "watchrun"),
        .product(name: "ActionRunning", package: "watchrun"),
      ]),
    .executableTarget(
      name: "mirror",
      dependencies: [.product(name: "FileObservation", package: "watchrun")]),
    .executableTarget(
      name: "Snippets",
      dependencies: [
        .product(name: "FileObservation", package: "watchrun"),
        .product(name: "ActionRunning", package: "watchrun"),
        .product(name: "PathFiltering", package: "watchrun"),
        .product(name: "LiveReload", package: "watchrun"),
        .product(name: "SessionControl", package: "watchrun"),
      ],
      // Each file sees what it imports, as the articles say.
      swiftSettings: [.enableUpcomingFeature("MemberImportVisibility")]),
  ],
  swiftLanguageModes: [.v6]
)
