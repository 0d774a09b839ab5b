import Support

// Packages below a package.

extension ProjectDetection {
  /// The tasks of a package whose members have scripts, and which has none of its own.
  static func workspaceSteps(in directory: ProjectDirectory, _ manager: String) -> [Step] {
    let members = members(of: directory)
    return ["build", "test"].compactMap { name in
      let isDefined = members.contains {
        script(name, in: $0).map { !isPlaceholder($0.line) } ?? false
      }
      guard isDefined else { return nil }
      switch manager {
      case "npm": return Step(name, "npm run \(name) --workspaces --if-present")
      case "pnpm": return Step(name, "pnpm -r run \(name)")
      case "bun": return Step(name, "bun run --filter '*' \(name)")
      default: return nil
      }
    }
  }

  /// The directories that `"workspaces"` of `package.json` or `pnpm-workspace.yaml` name: `packages/*`, `tools/cli`.
  private static func members(of directory: ProjectDirectory) -> [ProjectDirectory] {
    let top = directory.text(of: "package.json").flatMap { try? JSONValue(parsing: Array($0.utf8)) }
    let list = top?["workspaces"]?["packages"] ?? top?["workspaces"]
    var patterns: [String] = []
    if case .array(let values) = list?.content {
      patterns = values.compactMap { if case .string(let text) = $0.content { text } else { nil } }
    }
    let lines = directory.text(of: "pnpm-workspace.yaml")?.split(whereSeparator: \.isNewline) ?? []
    patterns += lines.compactMap { line in
      let words = line.split { " '\"".contains($0) }
      return words.count == 2 && words[0] == "-" ? String(words[1]) : nil
    }
    return patterns.flatMap { pattern -> [ProjectDirectory] in
      if !pattern.hasSuffix("/*") {
        return [ProjectDirectory(path: directory.path.appending(pattern))]
      }
      let parent = ProjectDirectory(path: directory.path.appending(String(pattern.dropLast(2))))
      return parent.names(of: .directory).map { ProjectDirectory(path: parent.path.appending($0)) }
    }
  }
}
