import FileObservation
import TestSupport

@testable import ActionRunning

/// The writes of a command.
enum ModelCommand: String, CaseIterable, Sendable {
  case readsOnly, formatsIfNeeded, rewritesAlways, compilesAtItsEnd, compilesInTwoSteps
  case links
  case makesTemporaryFile
  case writesReport, appendsToLog, makesNewName, toggles, writesOneOfEight, stampsSource

  /// The files that people do not type.
  static let programs: Set<Path> = ["/p/o", "/p/app"]

  /// Whether it has the path open for writing while it runs.
  func keepsOpen(_ path: Path) -> Bool { self == .appendsToLog && path == "/p/log" }

  /// Whether it stays up after it has written, where a change restarts it.
  var isServer: Bool {
    switch self {
    case .readsOnly, .compilesInTwoSteps, .links, .appendsToLog, .makesNewName, .makesTemporaryFile:
      true
    default: false
    }
  }

  func begin(_ model: inout ChangeJudgeModel, _ number: Int) {
    for (percent, step) in steps(number) {
      model.after(model.duration * percent / 100) { model in
        if model.run?.number == number { step(&model) }
      }
    }
  }

  private typealias Step = (Int, (inout ChangeJudgeModel) -> Void)

  private func steps(_ number: Int) -> [Step] {
    let name = Path("/p/out/\(number)")
    switch self {
    case .readsOnly: return []
    case .formatsIfNeeded:
      return [
        (10, { $0.format("/p/a", always: false) }), (12, { $0.format("/p/b", always: false) }),
      ]
    case .rewritesAlways:
      return [
        (
          10,
          { model in
            model.format("/p/a", always: true)
            model.format("/p/b", always: true)
          }
        )
      ]
    case .compilesAtItsEnd: return [(98, { $0.write("/p/o", $0.sources * 3) })]
    case .compilesInTwoSteps:
      return [
        (30, { $0.write("/p/o", $0.content("/p/a") * 5) }),
        (97, { $0.write("/p/app", $0.sources * 7) }),
      ]
    case .links:
      return [
        (20, { $0.write("/p/app", nil) }), (60, { $0.write("/p/app", $0.sources * 11) }),
      ]
    case .makesTemporaryFile:
      return [(10, { $0.write(name, 1) }), (90, { $0.write(name, nil) })]
    case .writesReport: return [(95, { $0.write("/p/report", number) })]
    case .appendsToLog:
      return [
        (1, { $0.write("/p/log", $0.content("/p/log") + 1) }),
        (90, { $0.write("/p/log", $0.content("/p/log") + 1) }),
      ]
    case .makesNewName: return [(50, { $0.write(name, 1) })]
    case .toggles: return [(50, { $0.write("/p/x", $0.content("/p/x") == 0 ? 1 : nil) })]
    case .writesOneOfEight:
      return [
        (50, { $0.write(Path("/p/\(Int.random(in: 0..<8, using: &$0.random))"), number) })
      ]
    case .stampsSource:
      return [(10, { $0.write("/p/a", $0.content("/p/a") % 1_000_000 + number * 1_000_000) })]
    }
  }
}

extension ChangeJudgeModel {
  fileprivate func content(_ path: Path) -> Int { files[path] ?? 0 }

  fileprivate var sources: Int { content("/p/a") * 31 + content("/p/b") }

  /// Odd contents are formatted.
  fileprivate mutating func format(_ path: Path, always: Bool) {
    let content = content(path)
    if always || content % 2 == 0 { write(path, content | 1) }
  }

  fileprivate mutating func save(_ path: Path) {
    edit(path, .random(in: 1..<1_000_000, using: &random))
  }

  fileprivate mutating func time(_ range: ClosedRange<Double>) -> Time {
    Int(Double.random(in: range, using: &random) * Double(Self.second))
  }

  /// A part of the command's duration.
  fileprivate mutating func part(_ range: ClosedRange<Double>) -> Time {
    Int(Double.random(in: range, using: &random) * Double(duration))
  }
}

/// How a person edits, some six times.
enum ModelUser: String, CaseIterable, Sendable {
  case seldom, oftenBoth, oftenOne, savesTwoFiles, oneAtRestOneInRun, oneOfEachDirectory, oncePerRun
  case undoes
  case makesAndRemoves, pressesKeys

  /// Plans what the person does from now on. Until when at the latest.
  func begin(_ model: inout ChangeJudgeModel) -> ChangeJudgeModel.Time {
    var time: ChangeJudgeModel.Time = 0
    if case .oncePerRun = self { return saveInEachRun(&model) }
    for _ in 0..<6 {
      plan(&model, at: time)
      switch self {
      case .oftenBoth, .oftenOne, .pressesKeys: time += model.part(0...2.5)
      case .seldom: time += model.time(5...60)
      default: time += model.time(1...6) + 3 * model.duration
      }
    }
    return time + 2 * model.duration
  }

  private func saveInEachRun(_ model: inout ChangeJudgeModel) -> ChangeJudgeModel.Time {
    let last = model.starts.count + 7
    model.runBegan = { model in
      guard model.starts.count < last else { return }
      model.after(model.part(0.2...0.8)) { $0.save("/p/a") }
    }
    model.save("/p/a")
    return 60 * ChangeJudgeModel.second + 10 * model.duration
  }

  private func plan(_ model: inout ChangeJudgeModel, at time: ChangeJudgeModel.Time) {
    let early = time + model.part(0.02...0.5)
    let late = time + model.part(0.55...0.95)
    switch self {
    case .seldom, .oftenBoth:
      let path: Path = Bool.random(using: &model.random) ? "/p/a" : "/p/b"
      model.after(time) { $0.save(path) }
    case .oftenOne: model.after(time) { $0.save("/p/a") }
    case .savesTwoFiles:
      model.after(time) { $0.save("/p/a") }
      model.after(late) { $0.save("/p/b") }
    case .oneAtRestOneInRun:
      model.after(time) { $0.save("/p/b") }
      model.after(early + 12_000) { $0.save("/p/a") }
    case .oneOfEachDirectory:
      model.after(time) { $0.save("/p/tests/a") }
      model.after(late) { $0.save("/p/a") }
    case .oncePerRun: break
    case .undoes:
      model.after(time) { $0.save("/p/b") }
      model.after(early) { model in
        let before = model.files["/p/a"]
        model.save("/p/a")
        model.after(late - early) { $0.edit("/p/a", before) }
      }
    case .makesAndRemoves:
      let name = Path("/p/out/mine\(time)")
      model.after(time) { $0.edit(name, 1) }
      model.after(late) { $0.edit(name, nil) }
    case .pressesKeys:
      model.after(time) { $0.save("/p/a") }
      if Bool.random(using: &model.random) { model.after(early) { $0.pressKey() } }
    }
  }
}

/// A person edits while `watchrun` runs a command, and then leaves it alone for two hours.
struct ModelSession: CustomStringConvertible {
  let command: ModelCommand
  let user: ModelUser
  let isLive: Bool
  let seed: UInt64
  private(set) var model: ChangeJudgeModel
  private(set) var endOfEdits: ChangeJudgeModel.Time = 0

  var description: String { "\(command) \(user) \(isLive ? "live" : "queue") seed \(seed)" }

  init(_ command: ModelCommand, _ user: ModelUser, isLive: Bool, seed: UInt64) {
    (self.command, self.user, self.isLive, self.seed) = (command, user, isLive, seed)
    let durations = isLive ? [0.2, 1, 1.7] : [0.2, 1, 3, 10]
    let seconds = durations[Int(seed) % durations.count]
    model = ChangeJudgeModel(
      command, isLive: isLive, duration: Int(seconds * Double(ChangeJudgeModel.second)), seed: seed)
  }

  mutating func run() {
    model.begin()
    model.advance(to: (isLive ? 5 : 30) * ChangeJudgeModel.second)
    endOfEdits = model.now + user.begin(&model)
    model.advance(to: endOfEdits)
    model.advance(to: endOfEdits + 7200 * ChangeJudgeModel.second)
    model.settle()
  }

  /// The most runs that begin within so many seconds, from a time on.
  func mostRuns(within seconds: Int, from time: ChangeJudgeModel.Time) -> Int {
    let starts = model.starts.filter { $0 >= time }
    return starts.map { start in
      starts.count { $0 >= start && $0 < start + seconds * ChangeJudgeModel.second }
    }.max() ?? 0
  }
}
