import PathFiltering

func matchPattern() {
  if let pattern = GlobPattern(line: "docs/**/*.md") {
    print(pattern.matches("docs/guide/start.md", isDirectory: false))
  }
}

func filterPaths() {
  let filter = PathFilter(
    base: "/project",
    ignore: ["Generated/"],
    extensions: ["swift"],
    sources: [.versionControl, .defaults],
    environment: [:])

  let decision = filter.decision(
    for: "/project/Generated/Table.swift", isDirectory: false, below: "/project")
  print(decision.isIncluded, decision)

  if let rule = decision.rule, case .parameter(let parameter) = rule.source {
    print(parameter, rule.line, rule.pattern)
  }
}

func readIgnoreFile() {
  let file = IgnoreFile(path: "/project/.gitignore", contents: Array("*.o\n!keep.o\n".utf8))
  for rule in file.rules { print(rule.line, rule.pattern.isNegated) }
  let stack = IgnoreStack(root: "/project", currentDirectory: "/", environment: [:])
  print(stack.files.map(\.path), stack.entering("/project/a").files.count)
}
