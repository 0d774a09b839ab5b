import Foundation
import Support
import SystemCalls
import TestSupport
import Testing

@testable import WatchrunCommandLine

/// The table `FirstCommands.txt`: what users of other tools type first, and what watchrun answers.
///
/// `WATCHRUN_RECORD=1 swift test --filter FirstCommands` writes the answers into the table.
struct FirstCommandsTests {
  private static let file = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "FirstCommands.txt")

  @Test func `each first command has the answer of the table`() throws {
    let directory = try TemporaryDirectory()
    try Self.makeFixture(in: directory)
    let text = try String(contentsOf: Self.file, encoding: .utf8)
    var record = ""
    var count = 0
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      if line.hasPrefix("  ") { continue }
      record += line + "\n"
      guard let prompt = line.range(of: "$ watchrun") else { continue }
      count += 1
      let words = try #require(ShellWords.split(String(line[prompt.upperBound...])), "\(line)")
      let answer = Answer(
        directory: directory.path.appending(String(line[..<prompt.lowerBound])),
        programs: [directory.path.appending("bin")])
      for answerLine in answer.lines(for: words) { record += "  \(answerLine)\n" }
    }
    let expected = record.trimmingCharacters(in: .newlines)
    if ProcessInfo.processInfo.environment["WATCHRUN_RECORD"] != nil {
      try (expected + "\n").write(to: Self.file, atomically: true, encoding: .utf8)
    }
    let lines = zip(expected.split(separator: "\n"), text.split(separator: "\n"))
    for (answer, line) in lines where answer != line {
      Issue.record("expected “\(line)”, not “\(answer)”")
      return
    }
    #expect(expected == text.trimmingCharacters(in: .newlines))
    #expect(count >= 150)
  }

  private static func makeFixture(in directory: TemporaryDirectory) throws {
    let programs = [
      "make", "npm", "npx", "node", "cargo", "go", "python3", "pytest", "sh", "test", "echo", "ls",
      "init", "git", "swift", "date", "rsync", "deno", "docker", "printf", "ruff",
    ]
    try directory.makeDirectories("bin")
    for name in programs { try directory.writeProgram("bin/" + name) }
    for project in ["plain", "project", "node", "scripts", "rust", "make"] {
      try directory.makeDirectories("\(project)/src")
      try directory.makeDirectories("\(project)/tests")
      for name in ["src/main.c", "src/util.h", "tests/a.py", "README.md"] {
        try directory.write("", to: "\(project)/\(name)")
      }
    }
    for name in ["app.js", "server.py", "main.go", "deploy.sh", "a.c", "b.c"] {
      try directory.write("", to: "plain/" + name)
    }
    try directory.writeProgram("plain/run.sh")
    try directory.write(
      """
      { "tasks": {
        "build": { "run": "make" },
        "test": { "run": "make check", "after": ["build"] },
        "server": { "run": "./app", "after": ["build"], "service": true }
      } }
      """, to: "project/watchrun.json")
    try directory.write(
      #"{ "scripts": { "build": "tsc", "test": "vitest run", "dev": "vite" } }"#,
      to: "node/package.json")
    try directory.write(
      #"{ "scripts": { "dev": "vite", "lint": "eslint ." } }"#, to: "scripts/package.json")
    try directory.write("[package]\nname = \"x\"\n", to: "rust/Cargo.toml")
    try directory.write("all:\n\tcc main.c\ntest:\n\t./a.out\n", to: "make/Makefile")
  }
}

extension TemporaryDirectory {
  fileprivate func writeProgram(_ name: String) throws {
    try write("#!/bin/sh\n", to: name)
    try setMode(0o755, of: name)
  }
}
