import Foundation
import PathFiltering
import SystemCalls
import Testing

/// The installed git.
enum Git {
  static let isInstalled = (try? run(["--version"], in: "/", input: [])) != nil

  /// The output of `git check-ignore --no-index -v -n` before each path, in the format of
  /// `FilterDecision.bytes`. The paths are relative to the directory.
  static func rules(
    for paths: [Path], in directory: Path, environment: [String: String] = [:]
  ) throws -> [Path: [UInt8]] {
    let input: [UInt8] = paths.flatMap { $0.bytes + [0 as UInt8] }
    let output = try run(
      ["check-ignore", "--no-index", "--stdin", "-z", "-v", "-n"], in: directory, input: input,
      environment: environment)
    let fields = output.split(separator: 0, omittingEmptySubsequences: false)
    var rules: [Path: [UInt8]] = [:]
    for index in stride(from: 0, to: fields.count - 3, by: 4) {
      let colon = Array(":".utf8)
      rules[Path(bytes: fields[index + 3])] = Array(
        fields[index..<(index + 3)].joined(separator: colon))
    }
    return rules
  }

  /// Runs git, and waits for it. The input is a file, so that no pipe can fill up.
  @discardableResult
  static func run(
    _ arguments: [String], in directory: Path, input: [UInt8], environment: [String: String] = [:]
  ) throws -> [UInt8] {
    let inputFile = FileManager.default.temporaryDirectory.appendingPathComponent(
      "watchrun-tests-\(UUID().uuidString)")
    try Data(input).write(to: inputFile)
    defer { try? FileManager.default.removeItem(at: inputFile) }

    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["git"] + arguments
    process.currentDirectoryURL = URL(fileURLWithPath: try #require(directory.string))
    let searchPath = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    process.environment = environment.merging(["PATH": searchPath]) { own, _ in own }
    process.standardInput = try FileHandle(forReadingFrom: inputFile)
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    // check-ignore exits with status 1 if nothing is ignored.
    guard process.terminationStatus <= 1 else { throw Failure(arguments: arguments) }
    return Array(output)
  }

  struct Failure: Error {
    let arguments: [String]
  }

  /// Whether it is a pattern such as `foo**/bar`, which git before 2.52 parses as `foo` and
  /// `**/bar`.
  static func isMisreadByOldVersions(_ pattern: some Sequence<UInt8>) -> Bool {
    let special = Set("*?[\\".utf8)
    var previous: UInt8?
    var stars = 0
    for byte in pattern.drop(while: { $0 == UInt8(ascii: "!") }) {
      if byte == UInt8(ascii: "*") {
        if previous == nil || previous == UInt8(ascii: "/") { return false }
        stars += 1
      } else if stars > 0 || special.contains(byte) {
        return stars >= 2
      } else {
        previous = byte
      }
    }
    return stars >= 2
  }
}
