import Foundation

/// A program that a test needs and that need not be installed.
enum Tool {
  static let git = isInstalled("git")
  static let python = isInstalled("python3")
  static let vim = isInstalled("vim")

  private static func isInstalled(_ name: String) -> Bool {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    return path.split(separator: ":").contains {
      FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
    }
  }
}
