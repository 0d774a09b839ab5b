// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Plugin",
  products: [.executable(name: "greet", targets: ["greet"])],
  dependencies: [.package(name: "watchrun", path: "../..")],
  targets: [
    .target(name: "Greeting"),
    .executableTarget(name: "greet", dependencies: ["Greeting"]),
    .testTarget(name: "GreetingTests", dependencies: ["Greeting"]),
  ]
)
