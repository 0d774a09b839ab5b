import Foundation
import Synchronization
import SystemCalls

/// The program under test, running.
final class Watchrun: Sendable {
  let process: ChildProcess
  private let parsed = Mutex(Parsed())

  private struct Parsed {
    var offset = 0
    var readiness: Readiness?
    var batches: [Batch] = []
  }

  init(process: ChildProcess) {
    self.process = process
  }

  /// The program that was built together with these tests.
  static let program: String = {
    // The test executable is in the same directory, or in a bundle there.
    let candidates = ["/proc/self/exe"] + CommandLine.arguments
    for candidate in candidates where candidate.contains("/") {
      var directory = URL(fileURLWithPath: candidate).resolvingSymlinksInPath()
      for _ in 0..<4 {
        directory.deleteLastPathComponent()
        let program = directory.appendingPathComponent("watchrun").path
        var isDirectory: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: program, isDirectory: &isDirectory)
        if exists && !isDirectory.boolValue { return program }
      }
    }
    return "watchrun"
  }()

  var errors: [String] { process.errors.lines }
}

// MARK: - Its output

extension Watchrun {
  /// The batches of `--print json` so far.
  func batches() throws -> [Batch] {
    try parse().batches
  }

  /// The changes of `--print json` so far.
  func changes() throws -> [Batch.Change] {
    try batches().flatMap(\.changes)
  }

  /// Waits for the line that says that everything is watched.
  @discardableResult
  func ready() async throws -> Readiness {
    try await value("watchrun is ready") { try parse().readiness }
  }

  /// Waits until `--verbose` says that everything is watched.
  func watching() async throws {
    try await said("watchrun: watching ")
  }

  /// Waits for a line on standard error that contains this text.
  @discardableResult
  func said(_ text: String, within limit: Duration = patience) async throws -> String {
    var examined = 0
    return try await process.errors.value("watchrun says '\(text)'", within: limit) {
      let lines = errors
      defer { examined = lines.count }
      return lines[examined...].first { $0.contains(text) }
    }
  }

  /// The number of runs reported as successful.
  var runsEnded: Int { errors.count { $0.hasPrefix("watchrun: succeeded") } }

  /// Waits until it has exited, and all its output is read.
  @discardableResult
  func ended() async throws -> ExitStatus {
    let status = try await value("watchrun ends") { process.exitStatus }
    try await eventually("all writers close the output") {
      process.output.isAtEnd && process.errors.isAtEnd
    }
    return status
  }

  private func parse() throws -> Parsed {
    try parsed.withLock { parsed in
      let (lines, next) = process.output.lines(from: parsed.offset)
      parsed.offset = next
      for line in lines {
        let data = Data(line)
        if line.starts(with: Array(#"{"ready""#.utf8)) {
          parsed.readiness = try JSONDecoder().decode(Readiness.self, from: data)
        } else {
          parsed.batches.append(try JSONDecoder().decode(Batch.self, from: data))
        }
      }
      return parsed
    }
  }
}
