import SystemCalls
import TestSupport

/// Settings, a tree, and what is done to it in one burst: a failing case, and the script that shows it.
struct FuzzedScript: Sendable {
  var settings = Script.Settings()
  var preparation: [Operation] = []
  var burst: [Operation] = []

  /// It as a script of `Behaviour/Scripts`.
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

  /// How many lines and patterns could be left out.
  var lineCount: Int {
    burst.count + preparation.count + settings.extensions.count + settings.filter.count
      + settings.ignore.count
  }

  /// It without one of them, counted from the last one of the burst.
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

  /// It as it is written in a script.
  var text: String { ([verb.rawValue] + arguments.map(scriptWord)).joined(separator: " ") }
}

private func scriptWord(_ word: [UInt8]) -> String {
  let text = String(decoding: word, as: UTF8.self).replacing("\n", with: "\\n")
  return text.contains(" ") ? "\"\(text)\"" : text
}

/// Makes random settings, trees and operations, the same for the same seed.
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

  private static let folderNames = ["a", "b", "c", "d"]
  private static let fileNames = ["f.c", "g.md", "h.o"]
  private static let filters = [
    "a/**", "!b/**", "*.c", "/a/b/**", "**/c/*.md", "!*.o", "c/", "a/**/*.c", "!/b/f.c", "/d",
  ]
  private static let rules = [
    "b/", "/a/b/", "*.o", "/c/*.c", "d/", "!/a/b/h.o", "/b/**", "**/d/*.md", "/c", "!b/",
  ]

  /// Settings, and a tree of a few directories.
  mutating func script() -> FuzzedScript {
    var script = FuzzedScript()
    func bytes(_ words: [String]) -> [[UInt8]] { words.map { Array($0.utf8) } }
    if happens(30) { script.settings.extensions = bytes(some(["c", "md"], 1...2)) }
    if happens(50) { script.settings.filter = bytes(some(Self.filters, 1...2)) }
    if happens(30) { script.settings.ignore = bytes(some(Self.rules, 1...2)) }

    var folders = [""]
    for name in some(Self.folderNames, 2...4) {
      let inner = some(Self.folderNames, 0...2).map { "\(name)/\($0)" }
      folders += [name] + inner
    }
    script.preparation += folders.dropFirst().map { Operation(.mkdir, $0) }
    for folder in folders {
      for name in some(Self.fileNames, 0...2) {
        script.preparation.append(Operation(.write, inner(name, of: folder), text()))
      }
    }
    if happens(60) { script.preparation.append(ignoreFile(in: "")) }
    if happens(25), let folder = folders.dropFirst().randomElement(using: &generator) {
      script.preparation.append(ignoreFile(in: folder))
    }
    return script
  }

  private mutating func ignoreFile(in folder: String) -> Operation {
    let rules = some(Self.rules, 1...2)
    return Operation(
      .write, inner(".gitignore", of: folder), rules.map { $0 + "\n" }.joined())
  }

  private func inner(_ name: String, of folder: String) -> String {
    folder.isEmpty ? name : "\(folder)/\(name)"
  }

  /// How many operations the next burst has: every other time it is a single one, which nothing else
  /// that is reported can make up for.
  mutating func burstSize() -> Int { happens(50) ? 1 : Int.random(in: 2...6, using: &generator) }

  /// Something that may be possible in such a tree.
  mutating func operation(in tree: RehearsedTree.Listing) -> Operation? {
    let files = tree.files.filter { !$0.hasSuffix(".gitignore") }
    let parent =
      happens(40) ? "" : tree.folders.randomElement(using: &generator) ?? ""
    let folderPlace = inner(Self.folderNames.randomElement(using: &generator) ?? "a", of: parent)
    let filePlace = inner(Self.fileNames.randomElement(using: &generator) ?? "f.c", of: parent)
    let folder = tree.folders.randomElement(using: &generator)
    let other = tree.folders.randomElement(using: &generator)
    let file = files.randomElement(using: &generator)
    let otherFile = files.randomElement(using: &generator)
    func two(_ verb: Verb, _ one: String?, _ other: String?) -> Operation? {
      guard let one, let other, one != other else { return nil }
      return Operation(verb, one, other)
    }
    switch Int.random(in: 0..<100, using: &generator) {
    case 0..<36: return two(.mv, folder, folderPlace)
    case 36..<48: return two(.mv, file, filePlace)
    case 48..<58: return Operation(.mkdir, folderPlace)
    case 58..<68: return Operation(.write, filePlace, text())
    case 68..<76: return file.map { Operation(.write, $0, text()) }
    case 76..<82:
      // What a directory's rules ignored would count while it is being removed.
      guard let folder, !tree.files.contains(where: { $0.hasPrefix("\(folder)/.gitignore") })
      else { return nil }
      return Operation(.rm, "-r", folder)
    case 82..<85: return file.map { Operation(.rm, $0) }
    case 85..<91: return two(.exchange, folder, other)
    case 91..<93: return two(.exchange, file, otherFile)
    case 93..<97:
      count += 1
      return two(.mv, folder, "../out-\(count)")
    default:
      return two(.mv, tree.movedOut.randomElement(using: &generator), folderPlace)
    }
  }
}
