import ActionRunning
import FileObservation
import PathFiltering
import Support
import SystemCalls

/// Writes a project as a file, and lists its tasks.
enum ProjectText {
  /// The file, with comments that say what more there is.
  static func file(_ project: Project, _ origin: String) -> String {
    var text = """
      // What watchrun does here: \(origin).
      // All keys: watchrun --schema. To check this file: watchrun --check.
      {

      """
    if let jobs = project.jobs { text += "  jobs: \(jobs),\n" }
    if !project.ignores.isEmpty {
      text += "  // Changes to these start nothing, nor do those that git ignores.\n"
      text += "  ignore: \(list(project.ignores.map(\.description))),\n"
    }
    text += "  tasks: {\n"
    for task in project.tasks { text += lines(for: task) }
    return text + """
          // A server that is restarted when the build has succeeded:
          // server: { run: "./server", after: ["build"], service: true, ready: { port: 8080 } },
        },
      }

      """
  }

  private static func lines(for task: Project.Task) -> String {
    var fields: [String] = []
    switch task.run {
    case .line(let line): fields.append("run: \(JSONWriter.quoted(line))")
    case .words(let words): fields.append("run: \(list(words))")
    }
    if !task.watched.isEmpty { fields.append("watch: \(list(task.watched.map(\.description)))") }
    if !task.filters.isEmpty { fields.append("filter: \(list(task.filters.map(\.description)))") }
    if !task.after.isEmpty { fields.append("after: \(list(task.after))") }
    return "    \(key(task.name)): {\n"
      + fields.map { "      \($0),\n" }.joined() + "    },\n"
  }

  private static func key(_ name: String) -> String {
    let isPlain = name.utf8.allSatisfy(JSONParser.isNameByte)
    let startsWithDigit = name.utf8.first.map(JSONParser.isDigit) ?? false
    return isPlain && !startsWithDigit ? name : JSONWriter.quoted(name)
  }

  private static func list(_ texts: [String]) -> String {
    "[" + texts.map { JSONWriter.quoted($0) }.joined(separator: ", ") + "]"
  }
}

// MARK: - The list

extension ProjectText {
  private static let widestColumn = 60
  private static let longestCommand = 80

  /// A line for each task and page: its name, what is run, and when.
  static func list(_ project: Project) -> String {
    let rows =
      project.tasks.map { [$0.name, shown($0.run), conditions(of: $0)] }
      + project.pages.map { [$0.name, shown($0), after($0.after) ?? "at once"] }
    // A long line is not to push all others aside.
    let widths = [0, 1].map { column in
      rows.map { $0[column].count }.filter { $0 <= widestColumn }.max() ?? 0
    }
    return rows.map { row in
      zip(row, widths + [0]).map { cell, width in
        cell + String(repeating: " ", count: max(0, width - cell.count))
      }.joined(separator: "  ") + "\n"
    }.joined()
  }

  /// As one would write it.
  static func shown(_ run: Project.Run) -> String {
    switch run {
    case .line(let line): Path(line).description
    case .words(let words): words.map { Path($0).description }.joined(separator: " ")
    }
  }

  /// The same, as much as is needed to know it by.
  static func abridged(_ run: Project.Run) -> String {
    let text = shown(run)
    return text.count <= longestCommand ? text : text.prefix(longestCommand - 1) + "…"
  }

  private static func shown(_ page: Project.Page) -> String {
    let source =
      switch page.source {
      case .folder(let folder): "serve \(folder)"
      case .port(let port): "proxy \(port)"
      case .url(let url): "proxy \(url)"
      }
    return page.port.map { "\(source) on port \($0)" } ?? source
  }

  private static func conditions(of task: Project.Task) -> String {
    var parts: [String] = []
    if !task.watched.isEmpty {
      var watched = "on changes in \(task.watched.map(\.description).joined(separator: ", "))"
      if !task.extensions.isEmpty {
        watched += " (\(some(of: task.extensions.map(pattern(of:)))))"
      } else if !task.filters.isEmpty {
        watched += " (\(some(of: task.filters.map(\.description))))"
      }
      parts.append(watched)
    }
    if let after = after(task.after) { parts.append(after) }
    if task.isService { parts.append("service" + ready(task.readiness)) }
    if task.isPostponed { parts.append("not at the start") }
    return parts.isEmpty ? "at the start" : parts.joined(separator: ", ")
  }

  /// An extension may be given with its dot.
  private static func pattern(of ending: [UInt8]) -> String {
    "*.\(Path(bytes: ending.drop { $0 == UInt8(ascii: ".") }))"
  }

  /// As many as fit into a line.
  private static func some(of patterns: [String]) -> String {
    let more = patterns.count - 5
    return patterns.prefix(5).joined(separator: " ") + (more > 0 ? " and \(more) more" : "")
  }

  private static func after(_ names: [String]) -> String? {
    names.isEmpty ? nil : "after " + names.joined(separator: " and ")
  }

  private static func ready(_ readiness: TaskDefinition.Readiness?) -> String {
    switch readiness?.condition {
    case .port(let port): ", ready on port \(port)"
    case .url(let url): ", ready at \(url)"
    case .line(let line): ", ready when it prints \"\(Path(line))\""
    case nil: ""
    }
  }
}

extension ProjectText {
  /// For a folder of which nothing is known.
  static let example = """
    // What watchrun does here when something changes. To check this file: watchrun --check.
    // All keys: watchrun --schema.
    {
      tasks: {
        // A line for the shell, or a list of words. Without 'watch', the whole folder is watched.
        build: { run: "echo 'put your build here'" },
        test: { run: ["echo", "put your tests here"], after: ["build"] },
        // A server that is restarted when the build has succeeded:
        // server: { run: "./server", after: ["build"], service: true, ready: { port: 8080 } },
      },
    }

    """
}
