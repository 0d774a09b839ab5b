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
    JSONWriter.encode { writer in
      writer.object { writer in
        writer.member("version", 1)
        writer.member("directory", directory.description)
        writer.array("pages") { writer in
          for page in pages {
            writer.object { writer in
              writer.member("name", page.name)
              writer.member("url", page.url)
              writer.member("source", page.source)
              writer.member("console", page.console)
            }
          }
        }
        writer.array("tasks") { writer in for task in tasks { write(task, to: &writer) } }
        writer.array("rounds") { writer in for round in rounds { write(round, to: &writer) } }
      }
    }
  }

  private func write(_ task: Task, to writer: inout JSONWriter) {
    writer.object { writer in
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
  }

  private func write(_ round: Round, to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("number", round.number)
      writer.member("reason", round.reason)
      writer.array("changes") { writer in
        for change in round.changes {
          writer.object {
            $0.member("path", change.path.description)
            $0.member("kind", change.kind)
          }
        }
      }
      writer.member("startedAt", round.startedAt)
      writer.member("durationMs", round.durationMilliseconds)
      writer.member("succeeded", round.hasSucceeded)
      writer.array("tasks") { writer in
        for entry in round.entries {
          writer.object {
            $0.member("name", entry.task)
            $0.member("outcome", entry.outcome.rawValue)
            $0.member("status", entry.status)
            $0.member("durationMs", entry.duration.milliseconds)
          }
        }
      }
    }
  }
}
