// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Server",
  platforms: [.macOS(.v15)],
  targets: [
    .target(name: "Greeting"),
    .executableTarget(name: "server", dependencies: ["Greeting"]),
    .testTarget(name: "GreetingTests", dependencies: ["Greeting"]),
  ],
  swiftLanguageModes: [.v6]
)
