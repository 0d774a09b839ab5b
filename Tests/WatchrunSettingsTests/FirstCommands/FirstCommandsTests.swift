import Foundation
import Support
import SystemCalls
import TestSupport
import Testing

@testable import WatchrunSettings

/// The tables `FirstCommands.txt` and `SecondTrial.txt`: what users of other tools type first, and what
/// watchrun answers.
///
/// `WATCHRUN_RECORD=1 swift test --filter FirstCommands` writes the answers into the tables.
struct FirstCommandsTests {
  @Test(arguments: [("FirstCommands.txt", 150), ("SecondTrial.txt", 189)])
  func `each first command has the answer of the table`(name: String, least: Int) throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: name)
    let directory = try TemporaryDirectory()
    try Self.makeFixture(in: directory)
    try Self.makeTrial(in: directory)
    let text = try String(contentsOf: file, encoding: .utf8)
    var record = ""
    var count = 0
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      if line.hasPrefix("  ") { continue }
      record += line + "\n"
      guard let prompt = line.range(of: "$ watchrun") else { continue }
      count += 1
      let words = try #require(ShellWords.split(String(line[prompt.upperBound...])), "\(line)")
      let place = line[..<prompt.lowerBound]
      let answer = Answer(
        directory: directory.path.appending(String(place.prefix { $0 != "|" })),
        programs: [directory.path.appending("bin")], isPiped: place.hasSuffix("|"))
      for answerLine in answer.lines(for: words) { record += "  \(answerLine)\n" }
    }
    let expected = record.trimmingCharacters(in: .newlines)
    if ProcessInfo.processInfo.environment["WATCHRUN_RECORD"] != nil {
      try (expected + "\n").write(to: file, atomically: true, encoding: .utf8)
    }
    let lines = zip(expected.split(separator: "\n"), text.split(separator: "\n"))
    for (answer, line) in lines where answer != line {
      Issue.record("expected “\(line)”, not “\(answer)”")
      return
    }
    #expect(expected == text.trimmingCharacters(in: .newlines))
    #expect(count >= least)
  }

  private static func makeFixture(in directory: TemporaryDirectory) throws {
    let programs = [
      "make", "npm", "npx", "node", "cargo", "go", "python3", "pytest", "sh", "test", "echo", "ls",
      "init", "git", "swift", "date", "rsync", "deno", "docker", "printf", "ruff", "cc", "sleep",
      "true", "watch",
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

  /// The projects of `SecondTrial.txt`.
  private static func makeTrial(in directory: TemporaryDirectory) throws {
    for project in ["c", "express", "cargo", "go", "py", "site", "proc"] {
      try directory.makeDirectories("\(project)/src")
      try directory.makeDirectories("\(project)/tests")
    }
    let files = [
      ("c/Makefile", "prog: main.c\n\tcc -o prog main.c\ntest:\n\t./prog\n"), ("c/main.c", ""),
      ("c/util.c", ""), ("c/app.py", ""), ("c/src/util.c", ""),
      (
        "express/package.json",
        #"{"scripts":{"build":"tsc","test":"jest","start":"node server.js","dev":"node server.js"}}"#
      ), ("express/server.js", ""), ("express/index.html", ""), ("express/lib/a.js", ""),
      ("express/nodemon.json", #"{"watch":["src"],"ext":"js json","exec":"node server.js"}"#),
      ("init/package.json", #"{"main":"index.js","scripts":{"test":"echo no test specified"}}"#),
      ("init/index.js", ""), ("cargo/Cargo.toml", "[package]\n"), ("cargo/src/main.rs", ""),
      ("go/go.mod", "module x\n"), ("go/main.go", "package main\n"),
      ("go/.air.toml", "[build]\ncmd = \"go build -o ./tmp/main .\"\nbin = \"./tmp/main\"\n"),
      ("go/reflex.conf", "-r '\\.go$' -s -- go run .\n"),
      ("go/modd.conf", "**/*.go {\n  prep: go test ./...\n}\n"),
      ("py/requirements.txt", "flask\n"), ("py/tests/test_a.py", ""), ("py/calc.py", ""),
      ("plain/calc.py", ""), ("space/Cargo.toml", "[workspace]\nmembers = [\"a\"]\n"),
      ("cmd/go.mod", "module x\n"), ("cmd/cmd/serve/main.go", "package main\n"),
      ("site/index.html", ""), ("site/public/index.html", ""),
      ("proc/Procfile", "web: ./web\nworker: ./work\n"), ("proc/Procfile.dev", "web: ./web\n"),
      ("proc/.env", "PORT=8330\n"),
    ]
    for (name, text) in files {
      let parts = name.split(separator: "/").dropLast().joined(separator: "/")
      try directory.makeDirectories(parts)
      try directory.write(text, to: name)
    }
    try directory.write("http.createServer().listen(80)\n", to: "express/server.js")
  }
}

extension TemporaryDirectory {
  fileprivate func writeProgram(_ name: String) throws {
    try write("#!/bin/sh\n", to: name)
    try setMode(0o755, of: name)
  }
}
