import Foundation
import PathFiltering
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// Each script beside this file, over each backend.
struct BehaviourTests {
  /// Lets only so many of them hold an inotify instance at a time.
  private static let turnstile = Turnstile(places: 12)

  @Test(arguments: ScriptFile.all, backendsUnderTest)
  func `a script's claim holds`(file: ScriptFile, backend: BackendUnderTest) async throws {
    let script = try file.parse()
    if script.exceptions[backend.name] != nil { return }
    try await Self.turnstile.pass {
      guard let issue = script.knownIssues[backend.name] else {
        return try await ScriptRunner.run(script, file.name, by: backend)
      }
      // Whoever mends it is told to take the line out of the script.
      await withKnownIssue("\(issue)") {
        try await ScriptRunner.run(script, file.name, by: backend)
      }
    }
  }

  @Test func `there are scripts, and each makes a claim of its own`() throws {
    let claims = try ScriptFile.all.map { try $0.parse().claim }
    #expect(claims.count >= 45)
    #expect(Set(claims).count == claims.count)
  }
}

/// A script that was found.
struct ScriptFile: Sendable, Hashable, CustomTestStringConvertible {
  let name: String

  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Scripts")

  /// All that are there.
  static let all: [ScriptFile] = {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { $0.hasSuffix(".txt") }.sorted().map(ScriptFile.init)
  }()

  var testDescription: String { name }

  func parse() throws -> Script {
    let text = try String(
      contentsOf: Self.folder.appendingPathComponent(name), encoding: .utf8)
    return try ScriptParser.parse(text, file: name)
  }
}
