import PathFiltering
import SystemCalls
import Testing

struct PathFilterTests {
  let tree: TemporaryTree

  init() throws {
    tree = try TemporaryTree()
    try tree.makeRepository()
  }

  private func patterns(_ texts: [String]) -> [GlobPattern] {
    texts.compactMap { GlobPattern(line: $0.utf8) }
  }

  private func filter(
    ignore: [String] = [], filter: [String] = [], extensions: [String] = [],
    sources: IgnoreSources = .all, base: String = "."
  ) -> PathFilter {
    PathFilter(
      base: tree.path(base), ignore: patterns(ignore), filter: patterns(filter),
      extensions: extensions, sources: sources,
      environment: tree.environment)
  }

  /// The decision on a path. A name that ends with a slash is a directory. The fast check, entry by
  /// entry, must have the same result.
  private func explain(
    _ name: String, _ filter: PathFilter, below root: String = "."
  ) -> String {
    let path = tree.path(name)
    let isDirectory = name.hasSuffix("/")
    let decision = filter.decision(for: path, isDirectory: isDirectory, below: tree.path(root))
    #expect(
      decision.isIncluded
        == reports(path, isDirectory: isDirectory, filter, below: tree.path(root)))
    return decision.description
  }

  /// The decision of a walk.
  private func reports(
    _ path: Path, isDirectory: Bool, _ filter: PathFilter, below root: Path
  ) -> Bool {
    guard path != root, let names = path.relative(to: root)?.components else { return true }
    var stack = filter.stack(forRoot: root)
    var entry = root
    for name in names {
      entry = entry.appending(name)
      let isLast = entry == path
      let nameAt = entry.lastComponent.startIndex
      let isWanted = entry.bytes.withUnsafeBufferPointer {
        isLast
          ? filter.reports($0, nameAt: nameAt, isDirectory: isDirectory, in: stack)
          : filter.mayEnter($0, nameAt: nameAt, in: stack)
      }
      if !isWanted || isLast { return isWanted }
      stack = stack.entering(entry, seen: .all.subtracting(.git))
    }
    return true
  }

  // MARK: - Watched paths

  @Test func `a watched path is always included, and its descendants are judged from there`() throws
  {
    try tree.write(".gitignore", "build/\n*.o\n")
    #expect(explain("build/", filter(), below: "build") == "::")
    #expect(explain("build/a.c", filter(), below: "build") == "::")
    #expect(explain("build/a.o", filter(), below: "build") == ".gitignore:2:*.o")
    #expect(explain("build/a.o", filter(), below: "build/a.o") == "::")
    #expect(explain("build/a.c", filter()) == ".gitignore:1:build/")
    #expect(explain("build/x/a.c", filter(ignore: ["build"]), below: "build") == "::")
  }

  @Test func `a watched directory may be given as an absolute path, or relative to any base`()
    throws
  {
    try tree.write(".gitignore", "/a/x\n")
    try tree.write("a/.gitignore", "/y\n")
    let inner = filter(base: "a/b")
    #expect(explain("a/x", inner) == ".gitignore:1:/a/x")
    #expect(inner.decision(for: "../x", isDirectory: false, below: "..").isIncluded == false)
    #expect(inner.decision(for: "../y", isDirectory: false, below: "../..").isIncluded == false)
    #expect(explain("a/y", filter(base: "c"), below: "a") == "a/.gitignore:1:/y")
  }

  // MARK: - Ignoring

  @Test func `ignore patterns take precedence over every file, and the last match decides`() throws
  {
    try tree.write(".gitignore", "*.log\n!*.txt\n")
    let options = filter(ignore: ["*.txt", "!a.log", "!b.txt", "!node_modules/"])
    #expect(explain("a.log", options) == "ignore:2:!a.log")
    #expect(explain("b.log", options) == ".gitignore:1:*.log")
    #expect(explain("a.txt", options) == "ignore:1:*.txt")
    #expect(explain("b.txt", options) == "ignore:3:!b.txt")
    #expect(explain("node_modules/", options) == "ignore:4:!node_modules/")
    #expect(explain("node_modules/x", options) == "::")
  }

  @Test func `ignore patterns are relative to the base`() {
    let options = filter(ignore: ["/x", "y/z"], base: "a")
    #expect(explain("a/x", options) == "ignore:1:/x")
    #expect(explain("x", options) == "::")
    #expect(explain("a/b/x", options) == "::")
    #expect(explain("a/y/z", options) == "ignore:2:y/z")
    #expect(explain("y/z", options) == "::")
    #expect(explain("ab/x", options) == "::")
  }

  @Test func `every file takes precedence over the built-in list`() throws {
    let number = try #require(
      explain("node_modules/", filter()).split(separator: ":").dropFirst().first)
    #expect(explain("a/node_modules/x.js", filter()) == "built-in:\(number):node_modules/")
    #expect(explain("node_modules", filter()) == "::")
    try tree.writeAtHome(".config/watchrun/ignore", "!node_modules/\n")
    #expect(explain("node_modules/x", filter()) == "::")
    #expect(
      explain("node_modules/", filter()) == "\(tree.home)/.config/watchrun/ignore:1:!node_modules/")
    #expect(explain("target/", filter(sources: [.versionControl])) == "::")
  }

  // MARK: - Selections

  @Test func `a filter passes matching paths, and descendants of matching directories`() {
    let options = filter(filter: ["*.c", "src/", "/doc/a*"])
    #expect(explain("x/a.c", options) == "filter:1:!*.c")
    #expect(explain("x/a.h", options) == "filter:0:*")
    #expect(explain("src/", options) == "filter:2:!src/")
    #expect(explain("x/src/deep/a.h", options) == "filter:2:!src/")
    #expect(explain("src", options) == "filter:0:*")
    #expect(explain("doc/ab/x", options) == "filter:3:!/doc/a*")
    #expect(explain("x/doc/ab", options) == "filter:0:*")
    #expect(explain("x/", options) == "filter:0:*")
  }

  @Test func `a negated filter pattern excludes, and the last match decides`() {
    let options = filter(filter: ["src", "!*.md", "README.md"])
    #expect(explain("src/a.c", options) == "filter:1:!src")
    #expect(explain("src/a.md", options) == "filter:2:*.md")
    #expect(explain("src/README.md", options) == "filter:3:!README.md")
    let onlyNegated = filter(filter: ["!*.md", "!doc/"])
    #expect(explain("a.c", onlyNegated) == "::")
    #expect(explain("a.md", onlyNegated) == "filter:1:*.md")
    #expect(explain("doc/a.c", onlyNegated) == "filter:2:doc/")
  }

  @Test
  func
    `a filter considers ancestors below the base, and elsewhere those below the watched directory`()
  {
    let inner = filter(filter: ["project", "a", "/b"], base: "a/b")
    #expect(explain("a/b/c", inner, below: "a/b") == "filter:0:*")
    #expect(explain("a/b/b", inner, below: "a/b") == "filter:3:!/b")
    #expect(explain("a/c", inner) == "filter:2:!a")
    #expect(explain("a/c", inner, below: "a") == "filter:0:*")
    #expect(explain("b", inner) == "filter:0:*")
    #expect(explain("build/x", filter(filter: ["build/"]), below: "build") == "filter:1:!build/")
  }

  @Test func `extensions pass files by the end of their names`() {
    let options = filter(extensions: ["swift", ".c", "tar.gz"])
    #expect(explain("a/b.swift", options) == "extensions:1:!*.swift")
    #expect(explain("b.c", options) == "extensions:2:!*.c")
    #expect(explain("b.tar.gz", options) == "extensions:3:!*.tar.gz")
    #expect(explain("b.gz", options) == "extensions:0:*")
    #expect(explain("swift", options) == "extensions:0:*")
    #expect(explain("bswift", options) == "extensions:0:*")
    #expect(explain("b.swift.bak", options) == "extensions:0:*")
    #expect(explain("b.Swift", options) == "extensions:0:*")
    #expect(
      explain("directory.swift/", options) == "extensions:0:*", "directories are not reported")
    #expect(explain("directory/b.swift", options) == "extensions:1:!*.swift", "but entered")
  }

  @Test func `a path must pass both selections, which cannot include ignored paths`() throws {
    try tree.write(".gitignore", "*.o\n!x.c\n")
    let options = filter(filter: ["src/"], extensions: ["c", "o"])
    #expect(explain("src/a.c", options) == "filter:1:!src/")
    #expect(explain("a.c", options) == "filter:0:*")
    #expect(explain("src/a.h", options) == "extensions:0:*")
    #expect(explain("src/a.o", options) == ".gitignore:1:*.o")
    #expect(explain("src/x.c", options) == ".gitignore:2:!x.c")
    #expect(explain("x.c", options) == "filter:0:*")
  }

  @Test func `no selection prevents a directory from being entered`() {
    let options = filter(filter: ["*.c"], extensions: ["c"])
    let stack = options.stack(forRoot: tree.root)
    let path = tree.path("directory")
    let nameAt = path.lastComponent.startIndex
    path.bytes.withUnsafeBufferPointer {
      #expect(options.mayEnter($0, nameAt: nameAt, in: stack))
      #expect(!options.reports($0, nameAt: nameAt, isDirectory: true, in: stack))
    }
  }

  @Test func `the root of the file system can be watched`() {
    let filter = PathFilter(base: "/", ignore: patterns(["/x"]), sources: [])
    #expect(
      filter.decision(for: "/x", isDirectory: false, below: "/").description == "ignore:1:/x")
    #expect(filter.decision(for: "/a/x", isDirectory: false, below: "/").isIncluded)
  }

  @Test func `the description of a decision is safe for a terminal`() throws {
    try tree.write(tree.path(".gitignore"), [0x61, 0xFF, 0x1B, 0x0A])
    let decision = filter().decision(
      for: Path(bytes: [0x61, 0xFF, 0x1B]), isDirectory: false, below: ".")
    #expect(decision.bytes == Array(".gitignore:1:a".utf8) + [0xFF, 0x1B])
    #expect(decision.description == ".gitignore:1:a\u{FFFD}\\u{1B}")
  }
}
