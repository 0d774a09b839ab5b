import ActionRunning
import FileObservation
import PathFiltering
import SystemCalls

// What the command line says about a project.

extension Settings {
  /// The settings with the defaults of the project file. An option that was given is stronger.
  func adding(_ defaults: [String: Assignment]) -> Settings {
    var settings = self
    for (name, value) in defaults {
      let option = Setting.key(name, in: .project)?.option
      if option.map({ given[$0.long] == nil }) ?? true { value.settings?(&settings) }
    }
    return settings
  }

  func projectContext(in directory: Path) -> ProjectContext {
    var plain = self
    // These decide about changes, not about observed paths.
    (plain.filters, plain.extensions) = ([], [])
    var context = ProjectContext(
      directory: directory, filter: plain.makeFilter(in: directory))
    if case .always(let shell) = self.shell { context.shell = shell }
    context.environment = self.environment
    context.colorMode = colorMode
    context.usesPseudoTerminals = givesPseudoTerminals
    context.reportsConsoles = Console.showsPageConsoles
    context.isPostponed = self.isPostponed
    // What is written above the status line must be read.
    let isRead = readsOutput || StatusLine.isPossible(effectiveStatusLine)
    context.readsOutput = isRead && self.outputMode != .failed
    context.outputMode = self.outputMode ?? .all
    return context
  }
}
