import Foundation
import Synchronization
import SystemCalls
import TestSupport
import Testing

/// Limits how many tests run the program at the same time.
private let turnstile = Turnstile(places: 8)

/// Where they run: a test that waits for a program must not wait for those that calculate, too.
private let threads = TestThreads(count: 4)

/// Calls `body` with a new project, then ends its processes and removes its files.
func withProject(_ body: (Project) async throws -> Void) async throws {
  await withTaskExecutorPreference(threads) {
    await turnstile.enter()
    do {
      let project = try Project()
      do {
        try await body(project)
      } catch {
        Issue.record(error, "\(project.transcript)")
      }
      await project.tearDown()
    } catch {
      Issue.record(error)
    }
    await turnstile.leave()
  }
}

/// A directory to watch, one outside of it, and the processes that were started there.
///
/// Paths are relative to the watched directory, or absolute.
final class Project: Sendable {
  private let directory: TemporaryDirectory
  private let base: String
  /// The directory to watch.
  let root: String
  /// A directory beside it, on the same file system.
  let outside: String
  /// The file, in `LOG`, to which commands append their reports.
  let log: String

  private struct State {
    var started: [Watchrun] = []
    var placedCount = 0
  }

  private let state = Mutex(State())

  init() throws {
    directory = try TemporaryDirectory()
    // Some tests run watchrun as another user.
    try directory.setMode(0o755, of: "")
    base = directory.path.description
    root = base + "/project"
    outside = base + "/outside"
    log = base + "/log"
    for path in [root, outside, base + "/tmp", base + "/run"] { try makeDirectory(path) }
  }

  /// The last part of a text, with the whole report of a crash.
  private static func end(of text: String) -> String {
    guard let crash = text.range(of: "Fatal error") else { return String(text.suffix(2000)) }
    return String(text[..<crash.lowerBound].suffix(2000) + text[crash.lowerBound...].prefix(16_000))
  }

  /// Where watchrun puts its temporary files.
  var temporaryFiles: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: base + "/tmp")) ?? []
  }

  /// The living processes that were started here, except watchrun and its guardian.
  var commandProcesses: [pid_t] {
    let ours = Set(state.withLock { $0.started }.map(\.process.pid))
    return ProcessTable.processes(withVariable: "PROJECT=" + base)
      .filter { !ours.contains($0) && ProcessTable.isAlive($0) }
      .filter { ProcessTable.name(of: $0) != "wr-guard" }
  }

  private var environment: [String: String] {
    [
      "PATH": Tool.searchPath, "HOME": outside,
      "SHELL": "/bin/sh", "TMPDIR": base + "/tmp", "LC_ALL": "C.UTF-8", "LOG": log,
      "OUTSIDE": outside, "PROJECT": base, "TERM": "xterm", "XDG_RUNTIME_DIR": base + "/run",
      "XDG_CACHE_HOME": base + "/cache",
    ]
  }

  fileprivate func tearDown() async {
    for watchrun in state.withLock({ $0.started }) { await watchrun.process.stop() }
    // Leftover processes of the commands, in whatever session.
    for pid in ProcessTable.processes(withVariable: "PROJECT=" + base) { kill(pid, SIGKILL) }
  }

  var transcript: String {
    let outputs = state.withLock { $0.started }.map { watchrun in
      "stdout:\n\(watchrun.process.output.text.suffix(2000))\n"
        + "stderr:\n\(Self.end(of: watchrun.process.errors.text))\n"
        + "ended: \(watchrun.process.exitStatus.map { "\($0)" } ?? "no")\n"
    }
    return outputs.joined() + "log:\n\(logged.joined(separator: "\n").suffix(2000))"
  }
}

// MARK: - Starting

extension Project {
  /// Starts watchrun in the watched directory.
  func start(_ arguments: String...) async throws -> Watchrun {
    try await start(arguments)
  }

  /// Waits until nothing runs in the session of the watched directory, and all changes so far are known to it.
  func rests() async throws { _ = try await start("--wait").ended() }

  /// Starts watchrun, by default in the watched directory. With `prefix`, a command that starts it.
  ///
  /// Waits first, so that existing files are older than the start: the kernel's file clock ticks only
  /// every few milliseconds, and a file with the time of the start is reported.
  func start(
    _ arguments: [String], prefix: [String] = [], environment additions: [String: String] = [:],
    in directory: String? = nil, input: ChildProcess.Input = .null,
    output: ChildProcess.Output = .pipes
  ) async throws -> Watchrun {
    try await Task.sleep(for: .milliseconds(25))
    let watchrun = Watchrun(
      process: try ChildProcess(
        prefix + [Watchrun.program] + arguments,
        environment: environment.merging(additions) { $1 }, directory: directory ?? root,
        input: input, output: output))
    state.withLock { $0.started.append(watchrun) }
    return watchrun
  }

  /// Starts another program in the watched directory.
  @discardableResult
  func startBeside(_ arguments: [String]) throws -> ChildProcess {
    let process = try ChildProcess(arguments, environment: environment, directory: root)
    state.withLock { $0.started.append(Watchrun(process: process)) }
    return process
  }

  /// Starts an interactive shell, in which `watchrun` is the program under test.
  func startShell(_ terminal: PseudoTerminal) async throws -> Watchrun {
    let programDirectory = String(Watchrun.program.dropLast("/watchrun".count))
    var environment = environment
    environment["PATH"] = programDirectory + ":" + (environment["PATH"] ?? "")
    environment["PS1"] = "ready> "
    let shell = Watchrun(
      process: try ChildProcess(
        ["bash", "--norc", "--noprofile", "-i"], environment: environment, directory: root,
        output: .session(terminal)))
    state.withLock { $0.started.append(shell) }
    return shell
  }

  /// Starts watchrun, and waits until it prints batches.
  func startPrinting(_ options: String...) async throws -> Watchrun {
    let watchrun = try await start(["--print", "json"] + options)
    try await watchrun.ready()
    return watchrun
  }

  /// Starts watchrun with a command, and waits until everything is watched and the command has logged
  /// something.
  func startRunning(_ options: [String] = [], _ command: String...) async throws -> Watchrun {
    let watchrun = try await start(["--verbose"] + options + ["--"] + command)
    try await watchrun.watching()
    try await eventually("the first run logs something") { !logged.isEmpty }
    return watchrun
  }

  /// Runs a shell line in the watched directory, and returns its output.
  @discardableResult
  func shell(_ line: String) async throws -> String {
    let process = try ChildProcess(
      ["/bin/sh", "-c", line], environment: environment, directory: root)
    let status = try await value("'\(line)' ends", within: .seconds(60)) { process.exitStatus }
    // A thread of its own reads it, perhaps later. What the line has left behind may hold it open.
    try? await eventually("the output of '\(line)' ends", within: .seconds(5)) {
      process.output.isAtEnd
    }
    #expect(status == .exited(0), "\(line): \(process.errors.text)")
    return process.output.text
  }
}

// MARK: - The commands' log

extension Project {
  /// A command that logs why it was run, and which paths have changed.
  static let record =
    #"printf '%s %s\n' "$WATCHRUN_REASON" "$(echo $WATCHRUN_PATHS)" >> "$LOG""#

  /// The complete lines that commands have logged.
  var logged: [String] {
    let text = String(decoding: (try? fileContents(of: Path(log))) ?? [], as: UTF8.self)
    return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      .map(String.init)
  }

  /// The paths of each run that `record` has logged, except the first run.
  var recordedRuns: [[String]] {
    logged.filter { !$0.hasPrefix("start ") }.map { line in
      line.split(separator: " ").dropFirst().map { relative(String($0)) }
    }
  }

  /// Waits until the line has been logged that many times.
  func logged(_ line: String, times: Int = 1) async throws {
    try await eventually("'\(line)' is logged") { logged.count { $0 == line } >= times }
  }
}

// MARK: - Reported changes

extension Project {
  /// The changes that were printed, with paths relative to the watched directory.
  func changes(by watchrun: Watchrun) throws -> [Batch.Change] {
    try watchrun.changes().filter { !$0.path.contains("/settled-") }.map { change in
      var change = change
      change.path = relative(change.path)
      change.from = change.from.map(relative)
      return change
    }
  }

  /// Waits until a change of this path has been printed.
  @discardableResult
  func reported(
    _ name: String, _ kind: String? = nil, by watchrun: Watchrun
  ) async throws -> Batch.Change {
    try await value("\(name) is reported") {
      try changes(by: watchrun).first { $0.path == name && (kind ?? $0.kind) == $0.kind }
    }
  }

  /// Waits until watchrun has printed all changes so far: creates a file and waits for its report,
  /// since the kernel keeps the order.
  func settle(_ watchrun: Watchrun, suffix: String = "") async throws {
    let name = "settled-\(nextNumber())" + suffix
    try place(name)
    try await eventually("\(name) is reported") {
      try watchrun.changes().contains { $0.path.hasSuffix("/" + name) }
    }
  }

  /// Waits until a command that runs `record` has run for all changes so far.
  func settleRuns(suffix: String = "") async throws {
    let name = "settled-\(nextNumber())" + suffix
    try place(name)
    try await eventually("\(name) leads to a run") {
      recordedRuns.contains { $0.contains(name) }
    }
  }

  func relative(_ path: String) -> String {
    path.hasPrefix(root + "/") ? String(path.dropFirst(root.count + 1)) : path
  }

  private func nextNumber() -> Int {
    state.withLock { state in
      state.placedCount += 1
      return state.placedCount
    }
  }
}

// MARK: - Files

extension Project {
  func path(_ name: String) -> String {
    name.hasPrefix("/") ? name : root + "/" + name
  }

  func exists(_ name: String) -> Bool {
    File.exists(Path(path(name)))
  }

  /// Writes a file in place.
  func write(_ name: String, _ text: String = "text\n", appending: Bool = false) throws {
    try File.write(
      Array(text.utf8), to: Path(path(name)), appending ? O_APPEND : O_TRUNC)
  }

  /// Moves a complete file to the path, which is one event.
  func place(_ name: String, _ text: String = "text\n") throws {
    let draft = base + "/draft-\(nextNumber())"
    try write(draft, text)
    try move(draft, to: name)
  }

  func move(_ name: String, to other: String) throws {
    try File.move(Path(path(name)), to: Path(path(other)))
  }

  func makeDirectory(_ name: String) throws {
    try File.makeDirectories(Path(path(name)))
  }

  func makeLink(_ name: String, to target: String) throws {
    try File.makeLink(Path(path(name)), to: Path(target))
  }

  func remove(_ name: String) throws {
    try File.removeTree(Path(path(name)))
  }

  func read(_ name: String) -> String {
    (try? File.read(Path(path(name)))) ?? ""
  }
}
