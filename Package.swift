// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "watchrun",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "watchrun", targets: ["watchrun"]),
    .library(name: "PathFiltering", targets: ["PathFiltering"]),
    .library(name: "FileObservation", targets: ["FileObservation"]),
    .library(name: "ActionRunning", targets: ["ActionRunning"]),
  ],
  targets: [
    // The way a change takes, from the bottom up: each floor imports only those below it.
    .target(name: "CSystem"),
    .target(name: "SystemCalls", dependencies: ["CSystem"]),
    .target(name: "PathFiltering", dependencies: ["SystemCalls"]),
    .target(name: "FileObservation", dependencies: ["PathFiltering", "SystemCalls"]),
    .target(
      name: "ActionRunning", dependencies: ["FileObservation", "PathFiltering", "SystemCalls"]),
    .target(
      name: "WatchrunCommandLine",
      dependencies: ["ActionRunning", "FileObservation", "PathFiltering", "SystemCalls"]),
    .executableTarget(name: "watchrun", dependencies: ["WatchrunCommandLine"]),

    .target(
      name: "TestSupport", dependencies: ["ActionRunning", "FileObservation", "SystemCalls"],
      path: "Tests/Support"),
    .testTarget(name: "SystemCallsTests", dependencies: ["SystemCalls", "TestSupport"]),
    .testTarget(name: "PathFilteringTests", dependencies: ["PathFiltering", "TestSupport"]),
    .testTarget(
      name: "FileObservationTests", dependencies: ["FileObservation", "TestSupport"],
      // Found by the tests where they stand.
      exclude: ["Behaviour/README.md", "Behaviour/Scripts"]),
    .testTarget(
      name: "ActionRunningTests", dependencies: ["ActionRunning", "PathFiltering", "TestSupport"]),
    .testTarget(
      name: "WatchrunCommandLineTests", dependencies: ["WatchrunCommandLine", "TestSupport"]),
    .testTarget(
      name: "EndToEndTests", dependencies: ["SystemCalls", "TestSupport", "watchrun"]),
  ],
  swiftLanguageModes: [.v6]
)
