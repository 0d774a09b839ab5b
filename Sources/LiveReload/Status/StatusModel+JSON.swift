import Support
import SystemCalls

extension StatusModel {
  /// A page in the status.
  struct PageEntry: Sendable {
    var name: String
    var url: String
    var source: String
    /// The latest lines of its console.
    var console: [String] = []
  }

  /// The status in the format of `/__watchrun/status.json`.
  func json(directory: Path, pages: [PageEntry]) -> [UInt8] {
    JSONWriter.object { writer in
      writer.member("version", 1)
      writer.member("directory", directory.description)
      writer.objects("pages", pages) { page, writer in
        writer.member("name", page.name)
        writer.member("url", page.url)
        writer.member("source", page.source)
        writer.member("console", page.console)
      }
      writer.objects("tasks", tasks, write)
      writer.objects("rounds", rounds, write)
    }
  }

  private func write(_ task: Task, to writer: inout JSONWriter) {
    writer.member("name", task.description.name)
    writer.member("command", task.description.command)
    writer.member("after", task.description.dependencies)
    writer.member("service", task.description.isService)
    writer.member("state", task.state.rawValue)
    writer.member("status", task.status)
    writer.member("startedAt", task.startedAt)
    writer.member("durationMs", task.duration?.milliseconds)
    writer.array("output") { writer in
      for line in StatusModel.shownLines(of: task) { line.write(to: &writer) }
    }
  }

  private func write(_ round: Round, to writer: inout JSONWriter) {
    writer.member("number", round.number)
    writer.member("reason", round.reason)
    writer.objects("changes", round.changes) { change, writer in
      writer.member("path", change.path.description)
      writer.member("kind", change.kind)
    }
    writer.member("startedAt", round.startedAt)
    writer.member("durationMs", round.durationMilliseconds)
    writer.member("succeeded", round.hasSucceeded)
    writer.objects("tasks", round.entries) { entry, writer in
      writer.member("name", entry.task)
      writer.member("outcome", entry.outcome.rawValue)
      writer.member("status", entry.status)
      writer.member("durationMs", entry.duration.milliseconds)
    }
  }
}
