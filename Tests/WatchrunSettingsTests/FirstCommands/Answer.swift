import ActionRunning
import FileObservation
import PathFiltering
import Support
import SystemCalls

@testable import WatchrunSettings

/// What watchrun answers to a command line: an error with its status, or what it would do.
struct Answer {
  let directory: Path
  /// Where programs are looked up.
  let programs: [Path]
  /// Whether another program reads standard output.
  var isPiped = false

  func lines(for words: [String]) -> [String] {
    var notes: [String] = []
    do throws(Failure) {
      let settings = try parse(words)
      if let lack = missingPath(settings) { throw .launch(lack, ExitCode.noInput) }
      let resolved = try settings.resolvingTasks(
        in: directory, programs: programs, isPiped: isPiped
      ) {
        notes.append("note: \($0)")
      }
      return notes + (try effect(of: resolved))
    } catch {
      return notes + ["error \(error.status): \(error.message)"]
    }
  }

  private func parse(_ words: [String]) throws(Failure) -> Settings {
    try OptionParser.parse(words.map { Array($0.utf8) }, in: directory)
  }

  private func missingPath(_ settings: Settings) -> String? {
    let missing = settings.watched.map(\.path).first { path in
      (try? FileStatus(of: path.absolute(from: directory))) == nil
    }
    guard let missing else { return nil }
    return WatchAdvice.explanation(of: missing, in: directory)
      ?? "cannot watch \(missing): No such file or directory"
  }

  private func effect(of settings: Settings) throws(Failure) -> [String] {
    switch settings.task {
    case .help: return ["prints the help"]
    case .version:
      return (settings.noteBesideVersion.map { ["note: \($0)"] } ?? []) + ["prints the version"]
    case .manual: return ["prints the manual"]
    case .completions: return ["prints completions"]
    case .doctor: return ["reports what is watched"]
    case .explain: return ["explains \(ShellWords.quoted(settings.command))"]
    case .listTasks: return ["lists \(try tasks(of: settings))"]
    case .initialize: return ["writes watchrun.json"]
    case .check: return ["checks watchrun.json"]
    case .schema: return ["prints the schema"]
    case .ask(let verb): return ["asks the session: \(verb.rawValue)"]
    case .run: break
    }
    if let mode = settings.printMode { return ["prints changes as \(mode)\(scope(of: settings))"] }
    if settings.isForProject { return ["runs \(try tasks(of: settings))\(scope(of: settings))"] }
    let page =
      settings.page.served.map { "serves \($0)" } ?? settings.page.upstream.map { "proxies \($0)" }
    if settings.isForPageAlone { return [(page ?? "") + scope(of: settings)] }
    if let problem = launchProblem(of: settings) { return [problem] }
    return [(page.map { $0 + ", " } ?? "") + verb(of: settings) + scope(of: settings)]
  }

  private func tasks(of settings: Settings) throws(Failure) -> String {
    let source = ProjectSource(settings, directory: directory)
    var project: Project?
    do throws(Failure) {
      project = try source.read() ?? source.detect()?.project
    } catch {
      guard case .project = error else { throw error }
      throw .usage("the project file has errors")
    }
    guard let project else { throw source.nothingFound() }
    let selected = try project.selecting(settings.taskNames)
    return "the tasks " + selected.names.joined(separator: ", ")
  }

  /// The error that the first run would end with.
  private func launchProblem(of settings: Settings) -> String? {
    guard !settings.isRunByShell, let name = settings.command.first else { return nil }
    let isPath = name.contains(UInt8(ascii: "/"))
    let path = Path(bytes: name).absolute(from: directory)
    let found = isPath ? isExecutable(path) : findProgram(name, in: programs) != nil
    if found { return nil }
    let exists = isPath && (try? FileStatus(of: path, followsLinks: true)) != nil
    let error = SystemError(
      call: "execve", code: exists ? EACCES : ENOENT, path: Path(bytes: name))
    let advice = LaunchAdvice(words: settings.command, directory: directory)
    return "error \(exists ? 126 : 127): cannot run \(ShellWords.quoted(settings.command)): "
      + advice.explanation(of: error)
  }

  private func verb(of settings: Settings) -> String {
    let command = ShellWords.quoted(settings.command)
    let form = settings.isRunByShell ? "in a shell " : ""
    let build = settings.build.map { "after \(ShellWords.quoted($0)), " } ?? ""
    switch settings.busyMode {
    case .queue: return "\(build)runs \(form)\(command)"
    case .ignore: return "\(build)runs \(form)\(command), ignoring changes meanwhile"
    case .restart: return "\(build)restarts \(form)\(command)"
    case .overlap: return "\(build)runs the next \(form)\(command) before the former one is stopped"
    case .signal:
      return
        "\(build)runs \(form)\(command), sending it \(settings.signal ?? settings.stopPlan.signal) on a change"
    }
  }

  /// Everything in the settings that deserves to be mentioned.
  private func scope(of settings: Settings) -> String {
    var text = ""
    let watched = settings.watched.map(\.path.description)
    if !watched.isEmpty { text += ", watching \(watched.joined(separator: " and "))" }
    if let file = settings.filesFrom { text += ", watching the list \(file)" }
    let names = settings.extensions.map { String(decoding: $0, as: UTF8.self) }
    if !names.isEmpty { text += ", only files in \(names.joined(separator: " or "))" }
    text += listed(settings.filters, ", only paths like ")
    text += listed(settings.ignores, ", except paths like ")
    if settings.ignoreSources != .all { text += ", with fewer ignore rules" }
    if case .fixed(let period) = settings.quietPeriod {
      text += ", after \(period.milliseconds) ms without changes"
    }
    if settings.followsLinks { text += ", following symbolic links" }
    if settings.polling != Polling() { text += ", polling" }
    if settings.isPostponed { text += ", first on a change" }
    if settings.completion != .never { text += ", and exits after the \(ending(of: settings))" }
    if settings.isKeptAlive { text += ", again when it exits" }
    if settings.notifyMode != .never { text += ", with notifications" }
    if settings.ringsBell { text += ", with the bell" }
    if settings.isInteractive { text += ", with the terminal" }
    if settings.clearsScreen { text += ", on a clear screen" }
    if let directory = settings.directory { text += ", in \(directory)" }
    for variable in settings.environment {
      text += ", with \(String(decoding: variable.name, as: UTF8.self)) set"
    }
    return text
  }

  private func ending(of settings: Settings) -> String {
    switch settings.completion {
    case .firstRun: "first run"
    case .firstFailure: "first failure"
    case .firstSuccess: "first success"
    case .never: "end"
    }
  }

  private func listed(_ patterns: [GlobPattern], _ title: String) -> String {
    patterns.isEmpty ? "" : title + patterns.map(\.description).joined(separator: " or ")
  }
}

extension Duration {
  fileprivate var milliseconds: Int64 {
    components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
  }
}
