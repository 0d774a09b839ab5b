import SystemCalls
import TestSupport

/// Settings, a tree, and the operations of one burst: a test case, and its text as a script.
struct FuzzedScript: Sendable {
  var settings = Script.Settings()
  var preparation: [Operation] = []
  var burst: [Operation] = []

  /// The text of a script for `Behaviour/Scripts`.
  var text: String {
    var lines: [String] = []
    func note(_ key: String, _ words: [[UInt8]]) {
      if !words.isEmpty { lines.append(([key] + words.map(scriptWord)).joined(separator: " ")) }
    }
    note("exts", settings.extensions)
    note("filter", settings.filter)
    note("ignore", settings.ignore)
    lines += preparation.map(\.text) + ["watch", ""] + burst.map(\.text) + ["follow"]
    return lines.joined(separator: "\n")
  }

  /// The number of lines and patterns that could be left out.
  var lineCount: Int {
    burst.count + preparation.count + settings.extensions.count + settings.filter.count
      + settings.ignore.count
  }

  /// The script without one of them, counted from the last one of the burst.
  func without(line: Int) -> FuzzedScript {
    var shorter = self
    var index = line
    func remove<Element>(_ lines: WritableKeyPath<FuzzedScript, [Element]>) {
      let count = shorter[keyPath: lines].count
      if index >= 0 && index < count { shorter[keyPath: lines].remove(at: count - 1 - index) }
      index -= count
    }
    remove(\.burst)
    remove(\.preparation)
    remove(\.settings.extensions)
    remove(\.settings.filter)
    remove(\.settings.ignore)
    return shorter
  }
}

extension Operation {
  init(_ verb: Verb, _ arguments: String...) {
    self.init(verb: verb, arguments: arguments.map { Array($0.utf8) }, line: 0)
  }

  /// The text of an operation in a script.
  var text: String { ([verb.rawValue] + arguments.map(scriptWord)).joined(separator: " ") }
}

private func scriptWord(_ word: [UInt8]) -> String {
  let text = String(decoding: word, as: UTF8.self).replacing("\n", with: "\\n")
  return text.contains(" ") ? "\"\(text)\"" : text
}

/// Generates random settings, trees and operations, the same for the same seed.
struct ScriptFuzzer {
  private var generator: SeededGenerator
  private var count = 0

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
  }

  // MARK: Choosing

  private mutating func happens(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &generator) < percent
  }

  private mutating func some(_ words: [String], _ counts: ClosedRange<Int>) -> [String] {
    let count = Int.random(in: counts, using: &generator)
    return Array(words.shuffled(using: &generator).prefix(count))
  }

  private mutating func text() -> String {
    count += 1
    return "text \(count)"
  }

  private static let directoryNames = ["a", "b", "c", "d"]
  private static let fileNames = ["f.c", "g.md", "h.o"]
  private static let filters = [
    "a/**", "!b/**", "*.c", "/a/b/**", "**/c/*.md", "!*.o", "c/", "a/**/*.c", "!/b/f.c", "/d",
  ]
  private static let rules = [
    "b/", "/a/b/", "*.o", "/c/*.c", "d/", "!/a/b/h.o", "/b/**", "**/d/*.md", "/c", "!b/",
  ]

  /// Generates settings and a tree of a few directories.
  mutating func script() -> FuzzedScript {
    var script = FuzzedScript()
    func bytes(_ words: [String]) -> [[UInt8]] { words.map { Array($0.utf8) } }
    if happens(30) { script.settings.extensions = bytes(some(["c", "md"], 1...2)) }
    if happens(50) { script.settings.filter = bytes(some(Self.filters, 1...2)) }
    if happens(30) { script.settings.ignore = bytes(some(Self.rules, 1...2)) }

    var directories = [""]
    for name in some(Self.directoryNames, 2...4) {
      let inner = some(Self.directoryNames, 0...2).map { "\(name)/\($0)" }
      directories += [name] + inner
    }
    script.preparation += directories.dropFirst().map { Operation(.mkdir, $0) }
    for directory in directories {
      for name in some(Self.fileNames, 0...2) {
        script.preparation.append(Operation(.write, inner(name, of: directory), text()))
      }
    }
    if happens(60) { script.preparation.append(ignoreFile(in: "")) }
    if happens(25), let directory = directories.dropFirst().randomElement(using: &generator) {
      script.preparation.append(ignoreFile(in: directory))
    }
    return script
  }

  private mutating func ignoreFile(in directory: String) -> Operation {
    let rules = some(Self.rules, 1...2)
    return Operation(
      .write, inner(".gitignore", of: directory), rules.map { $0 + "\n" }.joined())
  }

  private func inner(_ name: String, of directory: String) -> String {
    directory.isEmpty ? name : "\(directory)/\(name)"
  }

  /// The number of operations in the next burst: one every other time, so that no other report
  /// hides a lost change.
  mutating func burstSize() -> Int { happens(50) ? 1 : Int.random(in: 2...6, using: &generator) }

  /// Generates an operation that may be possible in a tree.
  mutating func operation(in tree: RehearsedTree.Listing) -> Operation? {
    let files = tree.files.filter { !$0.hasSuffix(".gitignore") }
    let parent =
      happens(40) ? "" : tree.directories.randomElement(using: &generator) ?? ""
    let directoryPlace = inner(
      Self.directoryNames.randomElement(using: &generator) ?? "a", of: parent)
    let filePlace = inner(Self.fileNames.randomElement(using: &generator) ?? "f.c", of: parent)
    let directory = tree.directories.randomElement(using: &generator)
    let other = tree.directories.randomElement(using: &generator)
    let file = files.randomElement(using: &generator)
    let otherFile = files.randomElement(using: &generator)
    func two(_ verb: Verb, _ one: String?, _ other: String?) -> Operation? {
      guard let one, let other, one != other else { return nil }
      return Operation(verb, one, other)
    }
    switch Int.random(in: 0..<100, using: &generator) {
    case 0..<36: return two(.mv, directory, directoryPlace)
    case 36..<48: return two(.mv, file, filePlace)
    case 48..<58: return Operation(.mkdir, directoryPlace)
    case 58..<68: return Operation(.write, filePlace, text())
    case 68..<76: return file.map { Operation(.write, $0, text()) }
    case 76..<82:
      // Entries that its rules ignored would be included during its removal.
      guard let directory, !tree.files.contains(where: { $0.hasPrefix("\(directory)/.gitignore") })
      else { return nil }
      return Operation(.rm, "-r", directory)
    case 82..<85: return file.map { Operation(.rm, $0) }
    case 85..<91: return two(.exchange, directory, other)
    case 91..<93: return two(.exchange, file, otherFile)
    case 93..<97:
      count += 1
      return two(.mv, directory, "../out-\(count)")
    default:
      return two(.mv, tree.movedOut.randomElement(using: &generator), directoryPlace)
    }
  }
}
