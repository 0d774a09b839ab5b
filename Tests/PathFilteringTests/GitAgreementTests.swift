import PathFiltering
import SystemCalls
import TestSupport
import Testing

/// Compares with the installed git: decision, file, line and pattern.
@Suite(.enabled(if: Git.isInstalled)) struct GitAgreementTests {
  /// The paths of a tree on which git and the filter differ, each with both decisions, and the
  /// number of all paths.
  private func differences(
    _ tree: TemporaryTree, on paths: [Path]
  ) throws -> (differences: [String], count: Int) {
    let rules = try Git.rules(for: paths, in: tree.root, environment: tree.environment)
    let filter = PathFilter(
      base: tree.root, sources: .all.subtracting(.defaults), environment: tree.environment)
    var differences: [String] = []
    for path in paths {
      let status = try? FileStatus(of: path.absolute(from: tree.root))
      let decision = filter.decision(
        for: path, isDirectory: status?.type == .directory, below: tree.root)
      let rule = try #require(rules[path])
      if decision.bytes != rule {
        differences.append("\(path): git \(Path(bytes: rule)), here \(decision)")
      }
    }
    return (differences, paths.count)
  }

  @Test(arguments: [false, true])
  func `git agrees with the tables of patterns`(ignoringCase: Bool) throws {
    let tree = try TemporaryTree()
    try tree.makeRepository(configuration: "ignorecase = \(ignoringCase)\n")
    var paths: [Path] = []
    let rows = (GlobTable.all + GlobTable.folded).filter {
      !Git.isMisreadByOldVersions($0.pattern.utf8)
    }
    for (index, row) in rows.enumerated() {
      try tree.write("\(index)/.gitignore", row.pattern + "\n")
      let name = "\(index)/\(row.path)"
      if name.hasSuffix("/") {
        try tree.makeDirectory(tree.path(name))
      } else {
        try tree.write(name)
      }
      paths.append(Path(name.hasSuffix("/") ? String(name.dropLast()) : name))
    }
    #expect(try differences(tree, on: paths).differences.isEmpty)
    if ignoringCase { return }
    // The matches of the table are matches for git too.
    let rules = try Git.rules(for: paths, in: tree.root, environment: tree.environment)
    for (row, path) in zip(rows, paths) where GlobTable.all.contains(where: { $0.isSame(as: row) })
    {
      if row.isMatch { #expect(rules[path] != Array("::".utf8), "\(row.testDescription)") }
    }
  }

  @Test func `git agrees on every byte in every class and in some sets`() throws {
    let classes = [
      "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space",
      "upper", "xdigit",
    ].flatMap { ["[[:\($0):]]", "[![:\($0):]]"] }
    let tree = try TemporaryTree()
    try tree.makeRepository()
    let step = Effort.count(1, quick: 17)
    var paths: [Path] = []
    for (index, pattern) in (classes + ["[!-~]", "[^a]", "?", "[\\--\\]]"]).enumerated() {
      try tree.write("\(index)/.gitignore", pattern + "\n")
      // Every byte, or a part of them, another one for each pattern.
      let bytes = stride(from: 1 + index % step, through: Int(UInt8.max), by: step).map(UInt8.init)
      for byte in bytes where byte != UInt8(ascii: "/") && byte != UInt8(ascii: ".") {
        paths.append(Path(bytes: Array("\(index)/".utf8) + [byte]))
      }
    }
    #expect(try differences(tree, on: paths).differences.isEmpty)
  }

  /// The seeds: fixed ones, or that of the environment.
  private static let seeds: [UInt64] =
    environmentVariable("WATCHRUN_SEED").flatMap(UInt64.init).map { [$0] } ?? [1, 2, 3, 4]

  @Test(arguments: seeds)
  func `git agrees on random trees with random ignore files`(seed: UInt64) throws {
    var generator = IgnoreTreeGenerator(seed: seed)
    var count = 0
    for _ in 0..<Effort.count(130, quick: 4) {
      let tree = try TemporaryTree()
      let paths = try generator.fill(tree)
      let result = try differences(tree, on: paths)
      count += result.count
      #expect(result.differences.isEmpty, "\(generator.shownFiles)")
      if !result.differences.isEmpty { return }
    }
    #expect(count > Effort.count(2500, quick: 40), "so few paths prove nothing")
  }
}

extension GlobRow {
  fileprivate func isSame(as other: GlobRow) -> Bool {
    pattern == other.pattern && path == other.path && isMatch == other.isMatch
  }
}
