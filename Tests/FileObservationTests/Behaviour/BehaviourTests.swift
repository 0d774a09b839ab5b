import Foundation
import PathFiltering
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// Each script in `Scripts`, with each backend; every day with inotify, and every other one with one of the others.
struct BehaviourTests {
  /// Limits the number of inotify instances.
  private static let turnstile = Turnstile(places: 32)

  /// The scripts with such names, each with its backends.
  private static func cases(
    where isWanted: (String) -> Bool
  ) -> [(ScriptFile, BackendUnderTest)] {
    ScriptFile.all.filter { isWanted($0.name) }.enumerated().flatMap { index, file in
      backendsUnderTest.enumerated()
        .filter { Effort.isFull || $0.offset == 0 || $0.offset == 1 + index % 4 }
        .map { (file, $0.element) }
    }
  }

  @Test(arguments: cases { !$0.hasPrefix("base-") })
  func `a script's claim holds`(file: ScriptFile, backend: BackendUnderTest) async throws {
    try await check(file, backend)
  }

  @Test(arguments: cases { $0.hasPrefix("root-") || $0.hasPrefix("base-") })
  func `what is claimed of roots holds in the current directory`(
    file: ScriptFile, backend: BackendUnderTest
  ) async throws {
    try await check(file, backend, isInBase: true)
  }

  private func check(
    _ file: ScriptFile, _ backend: BackendUnderTest, isInBase: Bool = false
  ) async throws {
    let script = try file.parse()
    if script.exceptions[backend.name] != nil { return }
    try await Self.turnstile.pass {
      guard let issue = script.knownIssues[backend.name] else {
        return try await ScriptRunner.run(script, file.name, by: backend, isInBase: isInBase)
      }
      // When this passes, the line must be removed from the script.
      await withKnownIssue("\(issue)") {
        try await ScriptRunner.run(script, file.name, by: backend, isInBase: isInBase)
      }
    }
  }

  @Test func `each script makes a claim of its own`() throws {
    let claims = try ScriptFile.all.map { try $0.parse().claim }
    #expect(claims.count >= 45)
    #expect(Set(claims).count == claims.count)
  }
}

/// A script file.
struct ScriptFile: Sendable, Hashable, CustomTestStringConvertible {
  let name: String

  private static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Scripts")

  static let all: [ScriptFile] = {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
    return names.filter { $0.hasSuffix(".txt") }.sorted().map(ScriptFile.init)
  }()

  var testDescription: String { name }

  func parse() throws -> Script {
    let text = try String(
      contentsOf: Self.directory.appendingPathComponent(name), encoding: .utf8)
    return try ScriptParser.parse(text, file: name)
  }
}
