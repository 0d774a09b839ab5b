import ActionRunning
import FileObservation
import LiveReload
import SystemCalls

/// The page of a command line that also runs a command.
struct CommandPage: Sendable {
  let host: PageHost
  /// Which of the observed changes start the command.
  let triggers: TaskTriggers
  private let page: Page

  /// The page that the command line asks for; `nil` if it asks for none.
  init?(_ session: Session) throws(Failure) {
    let settings = session.settings
    guard settings.hasPage else { return nil }
    let tasks = CommandTasks(settings)
    guard
      let page = try settings.page(in: session.directory, dependencies: tasks.names)
    else { return nil }
    self.page = page
    triggers = settings.commandTriggers(in: session.directory)
    host = PageHost(session, command: tasks)
  }

  func open() throws(Failure) {
    try host.open([page])
  }

  /// An observer of what the command watches, and of what the page shows.
  func makeObserver(_ session: Session) throws(Failure) -> FileObserver {
    let kinds = Set(ChangeBatch.Kind.allCases).subtracting([.metadata])
    return try session.makeObserver(
      of: session.settings.watchedWithPage, kinds: kinds.union(triggers.kinds), filters: false)
  }
}
