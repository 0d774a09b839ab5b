import ActionRunning
import FileObservation
import LiveReload
import SystemCalls

/// The page of a command line that runs a command as well.
struct CommandPage: Sendable {
  let host: PageHost
  /// The changes that start the command.
  let triggers: TaskTriggers
  private let page: Page

  /// `nil` if the command line has no page.
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

  /// An observer of the paths of the command and of the page.
  func makeObserver(_ session: Session) throws(Failure) -> FileObserver {
    let kinds = Set(ChangeBatch.Kind.allCases).subtracting([.metadata])
    return try session.makeObserver(
      of: session.settings.watchedWithPage, kinds: kinds.union(triggers.kinds), filters: false)
  }
}
