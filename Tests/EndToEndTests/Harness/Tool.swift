import Foundation
import SystemCalls

/// A program that a test needs and that need not be installed.
enum Tool {
  static let bash = isInstalled("bash")
  static let git = isInstalled("git")
  static let python = isInstalled("python3")
  static let vim = isInstalled("vim")

  /// Runs a program, and returns whether it succeeded.
  static func succeeds(_ words: String...) -> Bool {
    succeeds(words)
  }

  static func succeeds(_ words: [String]) -> Bool {
    let process = try? ChildProcess(
      words, environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"],
      directory: "/", input: .null, output: .pipes)
    guard let process else { return false }
    for _ in 0..<5000 where process.exitStatus == nil { usleep(1000) }
    return process.exitStatus == .exited(0)
  }

  private static func isInstalled(_ name: String) -> Bool {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    return path.split(separator: ":").contains {
      FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
    }
  }
}
