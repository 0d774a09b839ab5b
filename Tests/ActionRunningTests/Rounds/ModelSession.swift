import FileObservation
import TestSupport

@testable import ActionRunning

/// The delays that are promised, in seconds.
enum RoundsRules {
  /// How many follow-ups in a row for whatever paths do not count.
  static func freeDepth(isLive: Bool) -> Int { isLive ? 8 : 7 }

  /// The delay of the next follow-up after so many in a row. A path that only runs change has one
  /// immediate follow-up, one that is edited as well three.
  static func delay(inRow row: Int, isLive: Bool, isEdited: Bool) -> Int {
    let immediate = isLive ? 2 : isEdited ? 3 : 1
    if row < immediate { return 0 }
    let doublings = min(row - immediate, 20)
    return min(isLive ? 1 << min(3 * doublings, 20) : (isEdited ? 1 : 4) << doublings, 600)
  }

  /// The delay of the next follow-up after so many in a row for whatever paths.
  static func delay(atDepth depth: Int, isLive: Bool) -> Int {
    delay(inRow: depth + 1 - freeDepth(isLive: isLive), isLive: isLive, isEdited: false)
  }

  /// How many runs begin at most in so many seconds, the first of them at once and so many more.
  static func mostRuns(inSeconds seconds: Int, immediate: Int, isLive: Bool, isEdited: Bool) -> Int
  {
    // Two tests delay a restart so little that they count as immediate.
    var (count, time, row) = (1 + immediate + (isLive ? 2 : 0), 0, 3)
    while true {
      time += max(delay(inRow: row, isLive: isLive, isEdited: true), 1)
      if time >= seconds { return count }
      (count, row) = (count + 1, row + 1)
    }
  }
}

/// The writes of a command.
enum ModelCommand: String, CaseIterable, Sendable {
  case readsOnly, formatsIfNeeded, rewritesAlways, compilesAtItsEnd, compilesInTwoSteps
  case links
  case makesTemporaryFile
  case writesReport, appendsToLog, makesNewName, toggles, writesOneOfEight, stampsSource

  /// How many superfluous runs so many edits and keys lead to at most; `nil` where a second run does
  /// not leave what the first one left. One more in ten is for edits that coincide with a write.
  ///
  /// Where a change restarts the command, a temporary file of a run that is stopped is not removed.
  func superfluousRuns(_ user: ModelUser, occasions: Int, isLive: Bool) -> Int? {
    let most = occasions + occasions / 10 + 1
    switch self {
    case .readsOnly, .formatsIfNeeded, .rewritesAlways, .compilesAtItsEnd, .compilesInTwoSteps,
      .links:
      guard self == .compilesInTwoSteps && isLive else { return most }
      // The first output restarts the run before it has written the second one, until both are known
      // to be outputs.
      return 2 * most + 1 + (user.cutsRunsShort ? occasions : 0)
    case .makesTemporaryFile: return isLive ? nil : most
    case .writesReport, .appendsToLog, .makesNewName, .toggles, .writesOneOfEight, .stampsSource:
      return nil
    }
  }

  /// How many follow-ups in a row are immediate: three for a path or a directory, and more for whatever
  /// paths.
  func immediateFollowUps(isLive: Bool) -> Int {
    guard self == .writesOneOfEight else { return 3 }
    return isLive ? 100 : 3 + RoundsRules.freeDepth(isLive: isLive)
  }

  /// Whether it stays up after it has written, where a change restarts it.
  var isServer: Bool {
    switch self {
    case .readsOnly, .compilesInTwoSteps, .links, .appendsToLog, .makesNewName, .makesTemporaryFile:
      true
    default: false
    }
  }

  func begin(_ model: inout RoundsModel, _ number: Int) {
    for (percent, step) in steps(number) {
      model.after(model.duration * percent / 100) { model in
        if model.run?.number == number { step(&model) }
      }
    }
  }

  private typealias Step = (Int, (inout RoundsModel) -> Void)

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

extension RoundsModel {
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
  case seldom, oftenBoth, oftenOne, savesTwoFiles, oneAtRestOneInRun, oncePerRun, undoes
  case makesAndRemoves, pressesKeys

  /// Whether edits come while a command still writes.
  var cutsRunsShort: Bool {
    switch self {
    case .seldom: false
    default: true
    }
  }

  /// Plans what the person does from now on. Until when at the latest.
  func begin(_ model: inout RoundsModel) -> RoundsModel.Time {
    var time: RoundsModel.Time = 0
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

  private func saveInEachRun(_ model: inout RoundsModel) -> RoundsModel.Time {
    let last = model.starts.count + 7
    model.runBegan = { model in
      guard model.starts.count < last else { return }
      model.after(model.part(0.2...0.8)) { $0.save("/p/a") }
    }
    model.save("/p/a")
    return 60 * RoundsModel.second + 10 * model.duration
  }

  private func plan(_ model: inout RoundsModel, at time: RoundsModel.Time) {
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
  private(set) var model: RoundsModel
  private(set) var endOfEdits: RoundsModel.Time = 0

  var description: String { "\(command) \(user) \(isLive ? "live" : "queue") seed \(seed)" }

  init(_ command: ModelCommand, _ user: ModelUser, isLive: Bool, seed: UInt64) {
    (self.command, self.user, self.isLive, self.seed) = (command, user, isLive, seed)
    let durations = isLive ? [0.2, 1, 1.7] : [0.2, 1, 3, 10]
    let seconds = durations[Int(seed) % durations.count]
    model = RoundsModel(
      command, isLive: isLive, duration: Int(seconds * Double(RoundsModel.second)), seed: seed)
  }

  mutating func run() {
    model.begin(isFollowUp: false)
    model.advance(to: (isLive ? 5 : 30) * RoundsModel.second)
    endOfEdits = model.now + user.begin(&model)
    model.advance(to: endOfEdits)
    model.advance(to: endOfEdits + 7200 * RoundsModel.second)
    model.settle()
  }

  /// How many runs begin at most in an hour without edits.
  var mostRunsInAnHour: Int {
    let isEdited = command == .stampsSource || command == .makesNewName && user == .makesAndRemoves
    return RoundsRules.mostRuns(
      inSeconds: 3600, immediate: command.immediateFollowUps(isLive: isLive), isLive: isLive,
      isEdited: isEdited)
  }

  func runs(from start: RoundsModel.Time, seconds: Int) -> Int {
    model.starts.filter { $0 >= start && $0 < start + seconds * RoundsModel.second }.count
  }
}
