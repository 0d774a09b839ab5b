import Foundation
import PackagePlugin

/// `swift package watch`: builds, tests or runs the package again when its sources change.
@main
struct WatchPackage: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) async throws {
    let request = try Request(arguments, products: executables(of: context.package))
    let swift = (try? context.tool(named: "swift").url.path) ?? "swift"
    let program = try findProgram(context, swift: swift)
    guard FileManager.default.changeCurrentDirectoryPath(context.package.directoryURL.path) else {
      throw Failure("cannot enter \(context.package.directoryURL.path)")
    }
    let watched = watchedPaths(of: context.package).flatMap { ["--watch", $0] }
    try replaceProcess(with: program, arguments: watched + request.options(swift: swift))
  }

  private func executables(of package: Package) -> [String] {
    package.products.compactMap { ($0 as? ExecutableProduct)?.name }.sorted()
  }

  /// The directories of the targets with their resources, and the manifests; also of targets that these depend
  /// on in packages in directories of this machine.
  private func watchedPaths(of package: Package) -> [String] {
    let used = Set(package.targets.flatMap { [$0] + $0.recursiveTargetDependencies }.map(\.id))
    var paths: Set<String> = []
    var seen: Set<String> = []
    var packages = [package]
    while let next = packages.popLast() {
      guard seen.insert(next.id).inserted else { continue }
      packages += next.dependencies.map(\.package).filter(\.isLocal)
      let targets = next.targets.filter { used.contains($0.id) }
      guard !targets.isEmpty else { continue }
      let manifests = ["Package.swift", "Package.resolved"]
        .map { next.directoryURL.appending(path: $0).path }
        .filter(FileManager.default.fileExists)
      paths.formUnion(manifests + targets.map(\.directoryURL.path))
    }
    return paths.sorted()
  }

  /// The `watchrun` to use: `$WATCHRUN`, an installed one, or one that is built here, once.
  private func findProgram(_ context: PluginContext, swift: String) throws -> String {
    let environment = ProcessInfo.processInfo.environment
    if let program = environment["WATCHRUN"] { return program }
    let directories = (environment["PATH"] ?? "").split(separator: ":")
    if let program = directories.map({ "\($0)/watchrun" })
      .first(where: FileManager.default.isExecutableFile)
    {
      return program
    }
    guard let source = context.package.sourceOfWatchrun else {
      throw Failure("watchrun is not in PATH, and no dependency of the package builds it")
    }
    print("building watchrun, once")
    let scratch = context.pluginWorkDirectoryURL.appending(path: "watchrun").path
    let build = Process()
    build.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    build.arguments = [
      swift, "build", "-c", "release", "--product", "watchrun", "--package-path", source,
      "--scratch-path", scratch,
    ]
    try build.run()
    build.waitUntilExit()
    guard build.terminationStatus == 0 else { throw Failure("watchrun could not be built") }
    return "\(scratch)/release/watchrun"
  }
}

extension Package {
  fileprivate var isLocal: Bool {
    switch origin {
    case .root, .local: true
    default: false
    }
  }

  /// The directory of the package with this plugin.
  fileprivate var sourceOfWatchrun: String? {
    if products.contains(where: { $0.name == "watchrun" }) { return directoryURL.path }
    return dependencies.lazy.compactMap(\.package.sourceOfWatchrun).first
  }
}
