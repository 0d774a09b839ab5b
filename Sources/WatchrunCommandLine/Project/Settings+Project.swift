import ActionRunning
import FileObservation
import PathFiltering
import SystemCalls

// What the command line says about a project.

extension Settings {
  /// The settings with the defaults of the project file. An option that was given is stronger.
  func adding(_ defaults: Project.Defaults) -> Settings {
    var settings = self
    func isFree(_ option: String) -> Bool { given[option] == nil }
    if let period = defaults.quietPeriod, isFree("debounce") { settings.quietPeriod = period }
    if let clears = defaults.clearsScreen, isFree("clear") { settings.clearsScreen = clears }
    if let polling = defaults.polling, isFree("poll") { settings.polling = polling }
    if let skips = defaults.skipsUnchanged, isFree("skip-unchanged") {
      settings.skipsUnchanged = skips
    }
    if let shell = defaults.shell, isFree("shell") { settings.shell = .always(shell) }
    if let mode = defaults.colorMode, isFree("color") { settings.colorMode = mode }
    if let mode = defaults.notifyMode, isFree("notify") { settings.notifyMode = mode }
    if let mode = defaults.outputMode, isFree("output") { settings.outputMode = mode }
    if let file = defaults.diagnosticsFile, isFree("diagnostics") {
      settings.diagnosticsFile = file
    }
    return settings
  }

  func projectContext(in directory: Path) -> ProjectContext {
    var plain = self
    // These decide about changes, not about observed paths.
    (plain.filters, plain.extensions) = ([], [])
    var context = ProjectContext(
      directory: directory, filter: plain.makeFilter(in: directory))
    if case .always(let shell) = shell { context.shell = shell }
    context.environment = environment
    context.colorMode = colorMode
    context.usesPseudoTerminals = givesPseudoTerminals
    context.reportsConsoles = Console.showsPageConsoles
    context.isPostponed = isPostponed
    context.readsOutput = readsOutput && outputMode == .all
    context.outputMode = outputMode
    return context
  }

  /// The options that replace keys of all tasks.
  var projectOverrides: Project.Overrides {
    func isGiven(_ options: String...) -> Bool { options.contains { given[$0] != nil } }
    var named: [UInt8]?
    if isGiven("shell"), case .always(let shell) = shell { named = shell }
    return Project.Overrides(
      watched: isGiven("watch") ? watched.map(\.path) : nil,
      shell: named,
      kinds: kinds,
      busyMode: isGiven("on-busy", "restart") ? busyMode : nil,
      stopSignal: isGiven("stop-signal") ? stopPlan.signal : nil,
      stopTimeout: isGiven("stop-timeout") ? stopPlan.timeout : nil,
      timeout: timeout, outputMode: isGiven("output") ? outputMode : nil)
  }
}
