import ActionRunning
import PathFiltering
import Support
import SystemCalls

// The tasks as `Documentation/tasks.schema.json` describes them, and as in a project file, whose keys have the same
// names.

extension ProjectText {
  /// The answer to `--list-tasks --json`: an object in one line. The project has a file or is of a detected kind: "a
  /// Makefile".
  package static func json(_ project: Project, file: Path?, detected: String?) -> String {
    let text = JSONWriter.encode { writer in
      writer.object { writer in
        writer.member("file", file?.bytes.decoded)
        writer.member("detected", detected)
        writer.array("tasks") { writer in
          for task in project.tasks { writer.object { write(task, to: &$0) } }
        }
        writer.array("pages") { writer in
          for page in project.pages { writer.object { write(page, to: &$0) } }
        }
        writer.member("version", JSONText.version)
      }
    }
    return text.decoded + "\n"
  }

  /// - Parameter isFile: Whether only the keys of a project file are written that say more than the default.
  static func write(_ task: Project.Task, to writer: inout JSONWriter, isFile: Bool = false) {
    func list(_ key: StaticString, _ values: [String], isNeeded: Bool = false) {
      if !isFile || isNeeded || !values.isEmpty { writer.member(key, values) }
    }
    if !isFile { writer.member("name", task.name) }
    switch task.run {
    case .line(let line): writer.member("run", line)
    case .words(let words): writer.member("run", words)
    }
    if let directory = task.directory { writer.member("directory", directory) }
    if isFile { list("each", task.each.map(\.text.decoded)) }
    // Without the key, it would watch the current directory.
    let watchesNothing = task.watched.isEmpty && task.after.isEmpty && task.each.isEmpty
    list("watch", task.watched.map(\.bytes.decoded), isNeeded: watchesNothing)
    list("exts", task.extensions.map(\.decoded))
    list("filter", task.filters.map(\.text.decoded))
    list("ignore", task.ignores.map(\.text.decoded))
    list("writes", task.writes.map(\.text.decoded))
    list("after", task.after)
    if !isFile || task.isService { writer.member("service", task.isService) }
    if isFile {
      if task.onBusy == .restart { writer.member("onBusy", "restart") }
      if task.environment.isEmpty { return }
      return writer.object("env") { writer in
        for variable in task.environment {
          writer.key(quoting: variable.name.decoded)
          writer.value(variable.value.decoded)
        }
      }
    }
    writer.member("postpone", task.isPostponed)
    writer.member("manual", task.isManual)
    writer.member("fresh", task.isFreshAllowed)
    if let listen = task.listen {
      writer.member("listen", listen.description)
    } else if task.port == Project.Task.freePort {
      writer.member("port", "auto")
    } else if let port = task.port {
      writer.member("port", Int(port))
    }
    if let readiness = task.readiness { write(readiness.condition, to: &writer) }
  }

  private static func write(
    _ condition: TaskDefinition.Readiness.Condition, to writer: inout JSONWriter
  ) {
    writer.object("ready") { writer in
      switch condition {
      case .port(let port): writer.member("port", Int(port))
      case .url(let url, _): writer.member("url", url)
      case .line(let line): writer.member("line", line)
      case .command(let command):
        let words = command.words.map(\.decoded)
        if command.form == .direct { return writer.member("run", words) }
        writer.member("run", words.joined(separator: " "))
      }
    }
  }

  private static func write(_ server: Project.Page.Server, to writer: inout JSONWriter) {
    switch server {
    case .port(let port): writer.value(Int(port))
    case .url(let text), .task(let text): writer.value(text)
    }
  }

  static func write(_ page: Project.Page, to writer: inout JSONWriter, isFile: Bool = false) {
    if !isFile { writer.member("name", page.name) }
    if let served = page.served { writer.member("serve", served) }
    if let proxy = page.proxies.first, page.proxies.count == 1, page.served == nil {
      writer.key(quoting: "proxy")
      write(proxy.server, to: &writer)
    } else if !page.proxies.isEmpty {
      writer.object("proxy") { writer in
        for proxy in page.proxies {
          writer.key(quoting: proxy.path)
          write(proxy.server, to: &writer)
        }
      }
    }
    if let port = page.port { writer.member("port", Int(port)) }
    if !isFile || !page.reload.isEmpty { writer.member("reload", page.reload) }
    if !isFile || !page.after.isEmpty { writer.member("after", page.after) }
  }
}
