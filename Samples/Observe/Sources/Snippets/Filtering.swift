import PathFiltering

func matchPattern() {
  if let pattern = GlobPattern(line: "docs/**/*.md".utf8) {
    print(pattern.matches("docs/guide/start.md", isDirectory: false))
  }
}

func filterPaths() {
  let filter = PathFilter(
    base: "/project",
    ignore: [GlobPattern(line: "Generated/".utf8)].compactMap { $0 },
    extensions: [Array("swift".utf8)],
    sources: [.versionControl, .defaults],
    environment: [:])

  let decision = filter.decision(
    for: "/project/Generated/Table.swift", isDirectory: false, below: "/project")
  print(decision.isIncluded, decision)

  if let rule = decision.rule, case .option(let option) = rule.source {
    print(option, rule.line, rule.pattern)
  }
}

func readIgnoreFile() {
  let file = IgnoreFile(path: "/project/.gitignore", contents: Array("*.o\n!keep.o\n".utf8))
  for rule in file.rules { print(rule.line, rule.pattern.isNegated) }
  let stack = IgnoreStack(root: "/project", currentFolder: "/", environment: [:])
  print(stack.files.map(\.path), stack.entering("/project/a", seen: .all).files.count)
}
