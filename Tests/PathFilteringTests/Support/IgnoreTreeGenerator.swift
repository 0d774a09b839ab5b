import PathFiltering
import SystemCalls

/// A generator of random trees with related random ignore files. The same seed generates the same
/// trees.
struct IgnoreTreeGenerator {
  private var random: SeededGenerator
  /// The ignore files of the last tree, for the message of a failure.
  private(set) var shownFiles = ""

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
  }

  /// Fills an empty tree, and returns the paths in it, relative to its root.
  mutating func fill(_ tree: TemporaryTree) throws -> [Path] {
    shownFiles = ""
    let foldsCase = chance(1, in: 4)
    try tree.makeRepository(configuration: "ignorecase = \(foldsCase)\n")
    try tree.writeAtHome(".gitconfig", "[core]\n\texcludesFile = ~/excludes\n")

    var directories = [""]
    var entries: [String] = []
    for _ in 0..<Int.random(in: 3...10, using: &random) {
      let directory = pick(directories) + pick(Self.names)
      if directory.filter({ $0 == "/" }).count > 4 || entries.contains(directory) { continue }
      try tree.makeDirectory(tree.path(directory))
      entries.append(directory)
      directories.append(directory + "/")
    }
    for _ in 0..<Int.random(in: 10...40, using: &random) {
      let name = pick(directories) + pick(Self.names)
      if entries.contains(name) { continue }
      if chance(1, in: 20) {
        try tree.makeLink(name, to: pick([".", "nowhere", "a"]))
      } else {
        try tree.write(name)
      }
      entries.append(name)
    }

    for directory in Set(directories.shuffled(using: &random).prefix(3)).sorted() {
      try write(tree.path(directory + ".gitignore"), for: entries, below: directory, to: tree)
    }
    if chance(1, in: 3) {
      try write(tree.path(".git/info/exclude"), for: entries, below: "", to: tree)
    }
    if chance(1, in: 3) {
      try write(tree.home.appending("excludes"), for: entries, below: "", to: tree)
    }
    return entries.sorted().map { Path($0) }
  }

  /// Writes an ignore file for the entries of a directory.
  private mutating func write(
    _ file: Path, for entries: [String], below directory: String, to tree: TemporaryTree
  ) throws {
    let names = entries.filter { $0.hasPrefix(directory) }.map { $0.dropFirst(directory.count) }
    var bytes: [UInt8] = chance(1, in: 8) ? [0xEF, 0xBB, 0xBF] : []
    for _ in 0..<Int.random(in: 1...7, using: &random) {
      let line = chance(1, in: 6) || names.isEmpty ? pick(Self.lines) : pattern(for: pick(names))
      if Git.isMisreadByOldVersions(line.utf8) { continue }
      bytes += Array(line.utf8) + Array((chance(1, in: 8) ? "\r\n" : "\n").utf8)
    }
    if chance(1, in: 8), !bytes.isEmpty { bytes.removeLast() }
    try tree.write(file, bytes)
    shownFiles += "\(file): \(Path(bytes: bytes))\n"
  }

  // MARK: - Patterns

  /// A pattern that is likely to match this path.
  private mutating func pattern(for path: Substring) -> String {
    var components = path.split(separator: "/").map(String.init)
    if chance(1, in: 2) { components = [components[components.count - 1]] }
    for index in components.indices { components[index] = mutated(components[index]) }
    if chance(1, in: 4) {
      components.insert(
        pick(["**", "**", "*", "***"]),
        at: Int.random(
          in: 0...components.count, using: &random))
    }
    var line = components.joined(separator: pick(["/", "/", "/", "/", "/", "\\/", "//"]))
    if chance(1, in: 4) { line = "/" + line }
    if chance(1, in: 4) { line += "/" }
    if chance(1, in: 3) { line = "!" + line }
    if chance(1, in: 8) { line += pick([" ", "  ", "\\ ", "\\  ", " \\", "\t", "\\\\ "]) }
    return line
  }

  /// A name with a part replaced by a wildcard, escaped or made invalid.
  private mutating func mutated(_ name: String) -> String {
    let characters = Array(name)
    let index = Int.random(in: characters.indices, using: &random)
    let head = String(characters[..<index])
    let tail = String(characters[(index + 1)...])
    let letter = String(characters[index])
    switch Int.random(in: 0..<14, using: &random) {
    case 0: return "*"
    case 1: return head + "*" + tail
    case 2: return head + "?" + tail
    case 3: return head + "*"
    case 4: return "*" + tail
    case 5: return head + "\\" + letter + tail
    case 6: return head + "[" + letter + "]" + tail
    case 7: return head + "[" + pick(Self.sets) + "]" + tail
    case 8: return head + pick(["[!" + letter + "]", "[^x]", "[" + letter + "-z]"]) + tail
    case 9: return head + pick(["**", "***", "*?", "?*"]) + tail
    case 10: return head + pick(["[", "\\", "[]", "[a-", "[[:nope:]]", "[[:alpha:]"]) + tail
    case 11: return pick([name.uppercased(), name.lowercased()])
    default: return name
    }
  }

  private mutating func chance(_ part: Int, in whole: Int) -> Bool {
    Int.random(in: 0..<whole, using: &random) < part
  }

  /// A random element of a non-empty array.
  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: elements.indices, using: &random)]
  }

  private static let names = [
    "a", "b", "ab", "abc", "foo", "bar", "Foo", "x.o", "x.c", "main.c", "A.TXT", "a.txt", ".hid",
    "out", "src", "t1", "t10", "a b", "x ", " y", "#c", "!d", "[x]", "a*b", "a?b", "a\\b", "é", "~",
    "日本", "]", "^", "-", "a-b", "a:b", "...", "$v", "{a,b}",
  ]

  private static let sets = [
    "a-z", "!a-z", "^A-Z", "]", "]a", "!]", "a-", "-a", "a-c-e", "z-a", "[:alpha:]", "[:upper:]",
    "![:digit:]", "[:alpha:]_.-", "[:space:][:punct:]", "\\]", "\\\\", "a\\-c", "[", "!/", "é",
  ]

  private static let lines = [
    "", "  ", "#", "# c", "\\#c", "!", "!!d", "!#c", "/", "//", "*", "!*", "!*/", "*/", "/*", "**",
    "/**", "**/", "!**/", "**/*", "*/**", "*.o", "!/a", "[", "\\", "**/a/**", "a/**/b", "**/*/a",
  ]
}

/// A seeded generator of random numbers (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
