import PathFiltering
import SystemCalls
import Testing

struct IgnoreStackTests {
  let tree: TemporaryTree

  init() throws {
    tree = try TemporaryTree()
  }

  /// The decision on a path of the project, without the built-in list.
  private func explain(
    _ name: String, isDirectory: Bool = false, sources: IgnoreSources = .all,
    below root: String = "."
  ) -> String {
    let filter = PathFilter(
      base: tree.root, sources: sources.subtracting(.defaults), environment: tree.environment)
    return filter.decision(
      for: tree.path(name), isDirectory: isDirectory, below: tree.path(root)
    ).description
  }

  private func stack(
    of root: String = ".", sources: IgnoreSources = .all, warn: (SystemError) -> Void = { _ in }
  ) -> IgnoreStack {
    IgnoreStack(
      root: tree.path(root), currentDirectory: tree.root, sources: sources,
      environment: tree.environment, warn: warn)
  }

  // MARK: - Precedence

  @Test func `within a file, the last match decides`() throws {
    try tree.makeRepository()
    try tree.write(".gitignore", "*.log\n!keep.log\nkeep.*\n!keep.*\n")
    #expect(explain("a.log") == ".gitignore:1:*.log")
    #expect(explain("keep.log") == ".gitignore:4:!keep.*")
    #expect(explain("a.txt") == "::")
  }

  @Test func `a file in a deeper directory takes precedence`() throws {
    try tree.makeRepository()
    try tree.write(".gitignore", "*.log\n!*.txt\n")
    try tree.write("a/.gitignore", "!*.log\n*.txt\n")
    #expect(explain("x.log") == ".gitignore:1:*.log")
    #expect(explain("a/x.log") == "a/.gitignore:1:!*.log")
    #expect(explain("a/b/x.txt") == "a/.gitignore:2:*.txt")
  }

  @Test func `each kind of source takes precedence over the previous one`() throws {
    try tree.makeRepository()
    let sources: [(write: (String) throws -> Void, name: String)] = [
      ({ try tree.writeAtHome(".config/git/ignore", $0) }, "\(tree.home)/.config/git/ignore"),
      (
        { try tree.writeAtHome(".config/watchrun/ignore", $0) },
        "\(tree.home)/.config/watchrun/ignore"
      ),
      ({ try tree.write(".git/info/exclude", $0) }, ".git/info/exclude"),
      ({ try tree.write(".gitignore", $0) }, ".gitignore"),
      ({ try tree.write(".ignore", $0) }, ".ignore"),
      ({ try tree.write(".watchrunignore", $0) }, ".watchrunignore"),
      ({ try tree.write("a/.gitignore", $0) }, "a/.gitignore"),
      ({ try tree.write("a/.ignore", $0) }, "a/.ignore"),
      ({ try tree.write("a/.watchrunignore", $0) }, "a/.watchrunignore"),
    ]
    for (index, source) in sources.enumerated() {
      let pattern = index.isMultiple(of: 2) ? "x" : "!x"
      try source.write("\n\(pattern)\n")
      #expect(explain("a/x") == "\(source.name):2:\(pattern)")
    }
  }

  @Test func `each kind of source can be disabled`() throws {
    try tree.makeRepository()
    try tree.writeAtHome(".config/git/ignore", "x\n")
    try tree.writeAtHome(".config/watchrun/ignore", "x\n")
    try tree.write(".git/info/exclude", "x\n")
    try tree.write(".gitignore", "x\n")
    try tree.write(".watchrunignore", "x\n")
    func names(_ sources: IgnoreSources) -> [String] {
      stack(sources: sources).files.map { $0.path.lastComponent }.map {
        String(decoding: $0, as: UTF8.self)
      }
    }
    #expect(names(.all).count == 5)
    #expect(names(.versionControl) == ["exclude", ".gitignore"])
    #expect(names(.project) == [".watchrunignore"])
    #expect(names(.global) == ["ignore"])
    #expect(
      names([.global, .versionControl]) == ["ignore", "ignore", "exclude", ".gitignore"])
    #expect(names([]).isEmpty)
    #expect(stack(sources: .defaults).ignores(tree.path("node_modules"), isDirectory: true) == true)
    #expect(stack(sources: []).ignores(tree.path("node_modules"), isDirectory: true) == nil)
  }

  @Test func `ignore files above the watched directory apply, from the repository's root down`()
    throws
  {
    try tree.makeRepository()
    try tree.write(".gitignore", "/a/b/x\n*.log\n")
    try tree.write("a/.gitignore", "b/y\n")
    try tree.write("a/b/.gitignore", "/z\n")
    #expect(explain("a/b/x", below: "a/b") == ".gitignore:1:/a/b/x")
    #expect(explain("a/b/c/x.log", below: "a/b") == ".gitignore:2:*.log")
    #expect(explain("a/b/y", below: "a/b") == "a/.gitignore:1:b/y")
    #expect(explain("a/b/z", below: "a/b") == "a/b/.gitignore:1:/z")
  }

  @Test func `without a repository, the current directory is the root`() throws {
    try tree.write(".gitignore", "*.log\n")
    try tree.write("a/b/.ignore", "x\n")
    #expect(explain("a/b/y.log", below: "a/b") == ".gitignore:1:*.log")
    #expect(explain("a/b/x", below: "a/b") == "a/b/.ignore:1:x")
  }

  // MARK: - Negation

  @Test func `descendants of an ignored directory cannot be included`() throws {
    try tree.makeRepository()
    try tree.write(".gitignore", "out/\n!out/keep\n")
    try tree.write("out/.gitignore", "!keep\n")
    #expect(explain("out/keep") == ".gitignore:1:out/")
    #expect(explain("out/deep/keep") == ".gitignore:1:out/")
  }

  @Test func `entries of a directory that is not ignored itself can be included`() throws {
    try tree.makeRepository()
    try tree.write(".gitignore", "out/*\n!out/keep/\n")
    #expect(explain("out/x") == ".gitignore:1:out/*")
    #expect(explain("out/keep", isDirectory: true) == ".gitignore:2:!out/keep/")
    #expect(explain("out/keep/x") == "::")
  }

  @Test func `a rule that includes entries does not include their entries`() throws {
    try tree.makeRepository()
    try tree.write(".gitignore", "*\n!out/\n!out/*\n")
    #expect(explain("out/a", isDirectory: true) == ".gitignore:3:!out/*")
    #expect(explain("out/a/b") == ".gitignore:1:*")
  }

  @Test func `a link to a directory is not a directory`() throws {
    try tree.makeRepository()
    try tree.write(".gitignore", "out/\n")
    try tree.makeDirectory(tree.path("real"))
    try tree.makeLink("out", to: "real")
    #expect(explain("out") == "::")
    #expect(explain("out", isDirectory: true) == ".gitignore:1:out/")
  }

  // MARK: - Repositories

  @Test func `git's rules of an outer repository do not apply in an inner one, the project's do`()
    throws
  {
    try tree.makeRepository()
    try tree.write(".gitignore", "*.log\n")
    try tree.write(".git/info/exclude", "*.exc\n")
    try tree.write(".ignore", "*.txt\n")
    try tree.makeRepository("inner")
    try tree.write("inner/.gitignore", "*.o\n")
    try tree.write("inner/.git/info/exclude", "/anchored\n")
    #expect(explain("x.log") == ".gitignore:1:*.log")
    #expect(explain("inner/x.log") == "::")
    #expect(explain("inner/x.exc") == "::")
    #expect(explain("inner/x.txt") == ".ignore:1:*.txt")
    #expect(explain("inner/deep/x.o") == "inner/.gitignore:1:*.o")
    #expect(explain("inner/anchored") == "inner/.git/info/exclude:1:/anchored")
  }

  @Test func `a watched repository is not affected by the outer one`() throws {
    try tree.makeRepository()
    try tree.write(".gitignore", "/output\n*.c\n")
    try tree.makeRepository("output/inner")
    #expect(explain("output/inner/test.c", below: "output/inner") == "::")
    #expect(explain("output/inner/test.c") == ".gitignore:1:/output")
  }

  @Test func `a worktree and a submodule use the exclude file of their repository`()
    throws
  {
    try tree.makeRepository("main")
    try tree.write("main/.git/info/exclude", "*.exc\n")
    try tree.write("main/.git/worktrees/w/commondir", "../..\n")
    try tree.write("w/.git", "gitdir: \(tree.path("main/.git/worktrees/w"))\n")
    try tree.write("main/.git/modules/s/info/exclude", "*.sub\n")
    try tree.write("main/s/.git", "gitdir: ../.git/modules/s\n")
    let exclude = tree.path("main/.git/info/exclude")
    #expect(explain("w/a.exc", below: "w") == "\(exclude):1:*.exc")
    let module = tree.path("main/.git/modules/s/info/exclude")
    #expect(explain("main/s/a.sub", below: "main/s") == "\(module):1:*.sub")
    #expect(explain("main/s/a.exc", below: "main/s") == "::")
  }

  @Test func `core.excludesFile and core.ignoreCase come from git's settings`() throws {
    try tree.makeRepository()
    try tree.writeAtHome(".gitconfig", "[core]\n\texcludesFile = ~/mine\n")
    try tree.writeAtHome("mine", "*.mine\n")
    try tree.writeAtHome(".config/git/ignore", "*.default\n")
    #expect(explain("a.mine") == "\(tree.home)/mine:1:*.mine")
    // It may be a link, whatever its name.
    try tree.writeAtHome(".gitconfig", "[core]\n\texcludesFile = ~/.gitignore\n")
    #expect(symlink("mine", "\(tree.home)/.gitignore") == 0)
    #expect(explain("a.mine") == "\(tree.home)/.gitignore:1:*.mine")
    #expect(explain("a.default") == "::")
    #expect(explain("a.MINE") == "::")

    try tree.makeRepository(configuration: "ignorecase = true\nexcludesfile = other\n")
    try tree.write("other", "*.other\n")
    #expect(explain("a.OTHER") == "other:1:*.other")
    #expect(explain("a.mine") == "::")
  }

  @Test func `a worktree may have settings of its own, which git reads if it is told to`() throws {
    try tree.makeRepository("main")
    try tree.write("main/.git/worktrees/w/commondir", "../..\n")
    try tree.write("w/.git", "gitdir: \(tree.path("main/.git/worktrees/w"))\n")
    try tree.write(
      "main/.git/worktrees/w/config.worktree", "[core]\n\texcludesFile = ~/worktree\n")
    try tree.write("main/.git/config.worktree", "[core]\n\texcludesFile = ~/main\n")
    try tree.writeAtHome("worktree", "*.w\n")
    try tree.writeAtHome("main", "*.m\n")
    #expect(explain("w/a.w", below: "w") == "::")

    try tree.makeRepository("main", configuration: "[extensions]\n\tworktreeConfig = true\n")
    #expect(explain("w/a.w", below: "w") == "\(tree.home)/worktree:1:*.w")
    #expect(explain("w/a.m", below: "w") == "::")
    #expect(explain("main/a.m", below: "main") == "\(tree.home)/main:1:*.m")
  }

  @Test func `ignore files have exact names`() throws {
    try tree.makeRepository()
    try tree.writeAtHome(".config/git/gitignore", "x\n")
    try tree.writeAtHome(".gitignore", "x\n")
    try tree.write(".git/exclude", "x\n")
    #expect(explain("x") == "::")
  }

  // MARK: - Files

  @Test func `carriage returns, byte-order marks and missing newlines are not a part of a pattern`()
    throws
  {
    try tree.makeRepository()
    try tree.write(".gitignore", "\u{FEFF}a\r\n\r\nb \r\n\u{FEFF}c\nd\r")
    #expect(explain("a") == ".gitignore:1:a")
    #expect(explain("b") == ".gitignore:3:b")
    #expect(explain("c") == "::")
    #expect(explain("d") == ".gitignore:5:d")
    #expect(stack().files.first?.rules.map(\.line) == [1, 3, 4, 5])
  }

  @Test func `an unreadable file is reported once, and has no other effect`() throws {
    try tree.makeRepository()
    try tree.makeLink(".gitignore", to: "elsewhere")
    try tree.makeLink(".ignore", to: ".ignore")
    try tree.write("elsewhere", "x\n")
    try tree.write(".watchrunignore", "y\n")
    var warnings: [SystemError] = []
    let stack = stack { warnings.append($0) }
    // As in git, a link named .gitignore is not followed. Other links are, and this one is a loop.
    #expect(warnings.compactMap(\.path) == [tree.path(".gitignore"), tree.path(".ignore")])
    #expect(stack.ignores(tree.path("x"), isDirectory: false) == nil)
    #expect(stack.ignores(tree.path("y"), isDirectory: false) == true)
  }

  @Test func `a directory or a pipe with the name of an ignore file is skipped`() throws {
    try tree.makeRepository()
    try tree.makeDirectory(tree.path(".gitignore"))
    let pipe = tree.path(".ignore")
    _ = try checked("mkfifo") { pipe.withCString { mkfifo($0, 0o644) } }
    var warnings: [SystemError] = []
    #expect(stack { warnings.append($0) }.files.isEmpty)
    #expect(warnings.isEmpty)
  }

  @Test func `invalid patterns are reported with file and line`() throws {
    try tree.makeRepository()
    try tree.write(".gitignore", "a\n[x\n")
    let rules = stack().files.flatMap(\.rules).filter { $0.pattern.defect != nil }
    #expect(rules.map(\.line) == [2])
    #expect(
      rules.map { "\($0.pattern) \($0.pattern.defect?.description ?? "")" }
        == ["[x has a [ without ]"])
  }

  // MARK: - Entering

  @Test func `a directory without ignore files shares the stack of its parent`() throws {
    try tree.makeRepository()
    try tree.write("a/.gitignore", "x\n")
    let stack = stack()
    #expect(stack.entering(tree.path("b"), seen: []).isSame(as: stack))
    let inner = stack.entering(tree.path("a"), seen: .gitignore)
    #expect(!inner.isSame(as: stack))
    #expect(inner.ignores(tree.path("a/x"), isDirectory: false) == true)
    #expect(inner.ignores(tree.path("a/y"), isDirectory: false) == nil)
  }

  @Test func `a directory whose ignore files are disabled shares the stack of its parent`() throws {
    let stack = stack(sources: .project)
    #expect(stack.entering(tree.path("a"), seen: [.git, .gitignore]).isSame(as: stack))
    #expect(!stack.entering(tree.path("a"), seen: .ignore).isSame(as: stack))
  }

  @Test func `only a directory coverage with a report has rules of its own`() throws {
    let stack = stack()
    #expect(stack.entering(tree.path("src"), seen: .coverageReport).isSame(as: stack))
    #expect(stack.entering(tree.path("coverage"), seen: []).isSame(as: stack))
    #expect(!stack.entering(tree.path("coverage"), seen: .coverageReport).isSame(as: stack))
    let other = self.stack(sources: .project)
    #expect(other.entering(tree.path("coverage"), seen: .coverageReport).isSame(as: other))
  }

  @Test func `the names of ignore files are recognized`() {
    func names(_ name: String) -> IgnoreFileNames {
      Array(name.utf8).withUnsafeBufferPointer { IgnoreFileNames.of($0) }
    }
    #expect(names(".git") == .git)
    #expect(names(".gitignore") == .gitignore)
    #expect(names(".ignore") == .ignore)
    #expect(names(".watchrunignore") == .watchrunignore)
    for name in ["lcov.info", "clover.xml", "coverage-final.json"] {
      #expect(names(name) == .coverageReport)
    }
    for name in ["", ".", "..", "git", ".gitx", "xgitignore", ".Gitignore", ".gitignore~"] {
      #expect(names(name).isEmpty)
    }
  }

  @Test func `changed, new and removed files apply from the next reading on`() throws {
    try tree.makeRepository()
    #expect(explain("a.log") == "::")
    try tree.write(".gitignore", "*.log\n")
    #expect(explain("a.log") == ".gitignore:1:*.log")
    try tree.write(".gitignore", "\n*.log\n")
    #expect(explain("a.log") == ".gitignore:2:*.log")
    try tree.remove(".gitignore")
    #expect(explain("a.log") == "::")
  }
}
