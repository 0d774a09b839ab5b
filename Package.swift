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
    .library(name: "LiveReload", targets: ["LiveReload"]),
    .library(name: "SessionControl", targets: ["SessionControl"]),
    .plugin(name: "WatchPackage", targets: ["WatchPackage"]),
  ],
  targets: [
    // The way a change takes, from the bottom up: each floor imports only those below it.
    .target(name: "CSystem"),
    .target(name: "SystemCalls", dependencies: ["CSystem"]),
    .target(name: "Support", dependencies: ["SystemCalls"]),
    .target(name: "Diagnostics", dependencies: ["Support", "SystemCalls"]),
    .target(name: "PathFiltering", dependencies: ["Support", "SystemCalls"]),
    .target(name: "FileObservation", dependencies: ["PathFiltering", "Support", "SystemCalls"]),
    .target(
      name: "ActionRunning",
      dependencies: ["FileObservation", "PathFiltering", "Support", "SystemCalls"],
      exclude: ["StateMachines.md"]),
    .target(
      name: "LiveReload", dependencies: ["Diagnostics", "Support", "SystemCalls"],
      // The scripts are served without their comments; Client/minify.py makes those files.
      exclude: [
        "Client/client.js", "Client/console.js", "Client/minify.py", "Client/overlay.js",
        "Client/worker.js",
      ],
      resources: [
        .embedInCode("Client/client.min.js"), .embedInCode("Client/console.min.js"),
        .embedInCode("Client/overlay.min.js"), .embedInCode("Client/worker.min.js"),
        .embedInCode("Client/status.html"),
      ]),
    .target(name: "SessionControl", dependencies: ["Diagnostics", "Support", "SystemCalls"]),
    .target(
      name: "WatchrunSettings",
      dependencies: [
        "ActionRunning", "Diagnostics", "FileObservation", "LiveReload", "PathFiltering",
        "SessionControl", "Support", "SystemCalls",
      ],
      resources: [
        .embedInCode("Manual/watchrun.mdoc"), .embedInCode("Manual/watchrun-json.mdoc"),
        .embedInCode("Manual/completions.bash"), .embedInCode("Manual/completions.zsh"),
        .embedInCode("Manual/completions.fish"),
      ]),
    .target(
      name: "WatchrunCommandLine",
      dependencies: [
        "ActionRunning", "Diagnostics", "FileObservation", "LiveReload", "PathFiltering",
        "SessionControl", "Support", "SystemCalls", "WatchrunSettings",
      ]),
    .executableTarget(name: "watchrun", dependencies: ["WatchrunCommandLine"]),

    // Does not depend on `watchrun`: all targets would be built a second time, as tools of a plugin.
    .plugin(
      name: "WatchPackage",
      capability: .command(
        intent: .custom(
          verb: "watch",
          description: "Build, test or run the package again when its sources change"))),

    .target(
      name: "TestSupport",
      dependencies: ["ActionRunning", "FileObservation", "Support", "SystemCalls"],
      path: "Tests/Support"),
    .testTarget(name: "SystemCallsTests", dependencies: ["SystemCalls", "TestSupport"]),
    .testTarget(name: "SupportTests", dependencies: ["Support", "TestSupport"]),
    .testTarget(
      name: "DiagnosticsTests", dependencies: ["Diagnostics", "TestSupport", "WatchrunSettings"],
      // Recorded outputs, found by the tests where they stand.
      exclude: ["Recordings"]),
    .testTarget(name: "PathFilteringTests", dependencies: ["PathFiltering", "TestSupport"]),
    .testTarget(
      name: "FileObservationTests", dependencies: ["FileObservation", "Support", "TestSupport"],
      // Found by the tests where they stand.
      exclude: ["Behaviour/README.md", "Behaviour/Scripts"]),
    .testTarget(
      name: "ActionRunningTests",
      dependencies: ["ActionRunning", "PathFiltering", "Support", "TestSupport"]),
    .testTarget(name: "LiveReloadTests", dependencies: ["LiveReload", "Support", "TestSupport"]),
    .testTarget(
      name: "SessionControlTests", dependencies: ["SessionControl", "Support", "TestSupport"]),
    .testTarget(
      name: "WatchrunSettingsTests", dependencies: ["TestSupport", "WatchrunSettings"],
      exclude: ["FirstCommands/FirstCommands.txt", "FirstCommands/SecondTrial.txt"]),
    .testTarget(
      name: "WatchrunCommandLineTests",
      dependencies: ["SessionControl", "TestSupport", "WatchrunCommandLine", "WatchrunSettings"]),
    .testTarget(
      name: "EndToEndTests", dependencies: ["Support", "SystemCalls", "TestSupport", "watchrun"]),
  ],
  swiftLanguageModes: [.v6]
)

// A warning is an error in `.ci/run`.
if Context.environment["WATCHRUN_STRICT"] == "1" {
  for target in package.targets where target.type != .plugin {
    target.swiftSettings = (target.swiftSettings ?? []) + [.treatAllWarnings(as: .error)]
  }
}

// Packaging/build sets this. What is async, for those who embed, is left out. Only the target that
// handles every file and every event is compiled for speed, and the others for size. Nothing reads the
// names of fields and cases (0.2 MB). No package that depends on this one sees unsafe flags.
if Context.environment["WATCHRUN_RELEASE"] == "1" {
  for target in package.targets where target.type != .plugin {
    target.swiftSettings = (target.swiftSettings ?? []) + [.define("WITHOUT_CONCURRENCY")]
  }
  let nameless = ["-Xfrontend", "-disable-reflection-metadata"]
  let fast = ["CSystem", "FileObservation"]
  for target in package.targets where target.type != .plugin {
    let flags = nameless + (fast.contains(target.name) ? [] : ["-Osize"])
    target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(flags)]
  }
}
