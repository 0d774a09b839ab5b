import Foundation
import SystemCalls

/// A program that a test needs and that need not be installed.
enum Tool {
  static let bash = isInstalled("bash")
  static let git = isInstalled("git")
  static let openssl = isInstalled("openssl")
  static let python = isInstalled("python3")
  static let vim = isInstalled("vim")

  /// The search path of the programs that tests start. `python3` in it is the interpreter itself, which
  /// starts ten times as fast as a version manager that chooses one.
  static let searchPath: String = {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    let interpreter = try? ChildProcess(
      ["python3", "-c", "import os, sys; print(os.path.dirname(sys.executable))"],
      environment: ProcessInfo.processInfo.environment, directory: "/")
    guard let interpreter, wait(for: interpreter) == .exited(0),
      let directory = interpreter.output.lines.first
    else { return path }
    return directory + ":" + path
  }()

  /// Runs a program, and returns whether it succeeded.
  static func succeeds(_ words: String...) -> Bool {
    succeeds(words)
  }

  static func succeeds(_ words: [String]) -> Bool {
    let process = try? ChildProcess(
      words, environment: ["PATH": searchPath], directory: "/", input: .null, output: .pipes)
    return process.flatMap(wait) == .exited(0)
  }

  /// Waits until the process has ended and its output is read.
  private static func wait(for process: ChildProcess) -> ExitStatus? {
    for _ in 0..<60_000 where process.exitStatus == nil || !process.output.isAtEnd { usleep(1000) }
    return process.exitStatus
  }

  private static func isInstalled(_ name: String) -> Bool {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    return path.split(separator: ":").contains {
      FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
    }
  }
}
