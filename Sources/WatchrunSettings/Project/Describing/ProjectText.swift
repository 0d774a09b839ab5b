import ActionRunning
import FileObservation
import PathFiltering
import Support
import SystemCalls

/// Writes a project as a file, and lists its tasks.
package enum ProjectText {
  /// The project file: JSON without the extensions of JSON5, so that every tool can read it.
  ///
  /// - Parameter hasSchema: Whether the schema is beside the file.
  package static func file(_ project: Project, hasSchema: Bool = false) -> String {
    let text = JSONWriter.encode { writer in
      writer.object { writer in
        if hasSchema { writer.member("$schema", ProjectSchema.address) }
        if let jobs = project.jobs { writer.member("jobs", jobs) }
        if !project.ignores.isEmpty { writer.member("ignore", project.ignores.map(\.text.decoded)) }
        // A single string stands for an array of one.
        let files = project.environmentFiles
        if files.count == 1 { writer.member("envFile", files[0]) }
        if files.count > 1 { writer.member("envFile", files) }
        writer.object("tasks") { writer in
          for task in project.tasks {
            writer.key(quoting: task.name)
            writer.object { write(task, to: &$0, isFile: true) }
          }
          for page in project.pages {
            writer.key(quoting: page.name)
            writer.object { write(page, to: &$0, isFile: true) }
          }
        }
      }
    }
    return ((try? JSONValue(parsing: text)).map { indented($0, by: 0) } ?? text.decoded) + "\n"
  }

  private static let widestLine = 80

  private static func indented(_ value: JSONValue, by indent: Int) -> String {
    let space = String(repeating: " ", count: indent)
    switch value.content {
    case .object(let members):
      let lines = members.map { member in
        "\(space)  \(JSONWriter.quoted(member.key)): \(indented(member.value, by: indent + 2))"
      }
      return "{\n\(lines.joined(separator: ",\n"))\n\(space)}"
    case .array(let elements):
      let values = elements.map { indented($0, by: 0) }
      let line = "[\(values.joined(separator: ", "))]"
      if line.utf8.count + indent <= widestLine { return line }
      return "[\n\(space)  \(values.joined(separator: ",\n\(space)  "))\n\(space)]"
    case .string(let text): return JSONWriter.quoted(text)
    case .null, .boolean, .number:
      return value.bool?.description ?? value.int?.description ?? "null"
    }
  }
}

// MARK: - The list

extension ProjectText {
  private static let widestColumn = 60
  private static let longestCommand = 80

  /// A line for each task and page: its name, its command and what starts it.
  package static func list(_ project: Project) -> String {
    let rows =
      project.tasks.map { [$0.name, shown($0.run), conditions(of: $0)] }
      + project.pages.map { [$0.name, shown($0), after($0.after) ?? "at once"] }
    // A long line does not widen its column.
    let widths = [0, 1].map { column in
      rows.map { $0[column].count }.filter { $0 <= widestColumn }.max() ?? 0
    }
    return rows.map { row in
      zip(row, widths + [0]).map { cell, width in
        cell + String(repeating: " ", count: max(0, width - cell.count))
      }.joined(separator: "  ") + "\n"
    }.joined()
  }

  /// The command as it is typed.
  package static func shown(_ run: Project.Run) -> String {
    switch run {
    case .line(let line): line.printable
    case .words(let words): words.map(\.printable).joined(separator: " ")
    }
  }

  /// A command, at most ``longestCommand`` characters of it.
  package static func abridged(_ text: String) -> String {
    text.count <= longestCommand ? text : text.prefix(longestCommand - 1) + "…"
  }

  private static func shown(_ page: Project.Page) -> String {
    let rules = page.proxies.map { proxy in
      let path = proxy.path == Project.Page.Proxy.all ? "" : "\(proxy.path.printable)="
      return switch proxy.server {
      case .port(let port): "proxy \(path)\(port)"
      case .url(let text), .task(let text): "proxy \(path)\(text.printable)"
      }
    }
    let source = ((page.served.map { ["serve \($0)"] } ?? []) + rules).joined(separator: ", ")
    return page.port.map { "\(source) on port \($0)" } ?? source
  }

  private static func conditions(of task: Project.Task) -> String {
    var parts: [String] = []
    if !task.watched.isEmpty {
      var watched = "on changes in \(task.watched.map(\.description).joined(separator: ", "))"
      if !task.extensions.isEmpty {
        watched +=
          " (\(some(of: task.extensions.map { "*." + $0.drop { $0 == UInt8(ascii: ".") }.printable })))"
      } else if !task.filters.isEmpty {
        watched += " (\(some(of: task.filters.map(\.description))))"
      }
      parts.append(watched)
    }
    if let after = after(task.after) { parts.append(after) }
    if task.isService { parts.append("service" + port(of: task) + ready(task.readiness)) }
    if task.isManual {
      parts.append("on request")
    } else if task.isPostponed {
      parts.append("not at the start")
    }
    return parts.isEmpty ? "at the start" : parts.joined(separator: ", ")
  }

  /// As many patterns as fit into a line.
  private static func some(of patterns: [String]) -> String {
    let more = patterns.count - 5
    return patterns.prefix(5).joined(separator: " ") + (more > 0 ? " and \(more) more" : "")
  }

  private static func after(_ names: [String]) -> String? {
    names.isEmpty ? nil : "after " + names.joined(separator: " and ")
  }

  private static func port(of task: Project.Task) -> String {
    task.port.map { $0 == Project.Task.freePort ? " on a free port" : " on port \($0)" } ?? ""
  }

  private static func ready(_ readiness: TaskDefinition.Readiness?) -> String {
    switch readiness?.condition {
    case .port(let port): ", ready on port \(port)"
    case .url(let url, _): ", ready at \(url.printable)"
    case .line(let line): ", ready when it prints \"\(line.printable)\""
    case .command(let command): ", ready when \(command.words.shownCommand) succeeds"
    case nil: ""
    }
  }
}

extension Project {
  /// What `--init` writes where no project is detected.
  package static var example: Project {
    var build = Task(name: "build", run: .line("echo 'replace this with your build command'"))
    build.watched = ["."]
    var test = Task(name: "test", run: .words(["echo", "replace this with your test command"]))
    test.after = ["build"]
    var project = Project()
    project.tasks = [build, test]
    return project
  }
}
