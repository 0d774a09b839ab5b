import Dispatch
import FileObservation
import PathFiltering
import Support
import Synchronization
import SystemCalls

/// Finds out which tasks need not run at the start: what they are, what they watch and what they have written is as
/// after their last success. `TaskRunner+Fresh` says when that is examined and recorded.
///
/// Whatever cannot be proved is not fresh. A record holds fingerprints, and no contents: these show each change, if the
/// files were not changed within a clock tick before they were examined.
package final class FreshTasks: Sendable {
  /// A run of a task, from its start, or from the time at which its task was examined.
  private struct Run {
    /// Tells the runs of a task apart.
    var began = FileTime(nanoseconds: .min)
    /// Whether a change was reported that the task watches.
    var hasChanged = false
    /// Whether the outputs could not all be examined at the end of a run of this session. None is recorded after that.
    var hasUnknownOutputs = false
    /// The inputs before the first run.
    var inputs: FileSetState?
    /// The outputs at the end of the run, and the time of that.
    var outputs: FileSetState?
    var ended = FileTime(nanoseconds: .min)
  }

  /// What the files say about a run.
  enum Finding {
    case proved(inputs: ContentDigest, outputs: ContentDigest)
    /// Some have changed just before.
    case early
    case notProved
  }

  private let file: FreshRecordFile
  private let observation: ObserverOptions
  let isObserved: Bool
  private let isUsed: Bool
  private let runs = Mutex<[String: Run]>([:])
  /// Where files are examined, which takes long in a large directory.
  private let queue = DispatchQueue.separate(qos: .userInitiated)

  /// - Parameters:
  ///   - project: The directory of the project.
  ///   - directory: Where the records of all projects are kept.
  ///   - observation: The options of the observer of the project's files.
  ///   - isObserved: Whether changes are reported. Otherwise only states before and after a run show them.
  ///   - isUsed: Whether tasks may be fresh at the start. Otherwise successes are recorded only.
  package init(
    of project: Path, in directory: Path, observation: ObserverOptions, isObserved: Bool,
    isUsed: Bool
  ) {
    file = FreshRecordFile(of: project, in: directory)
    (self.observation, self.isObserved, self.isUsed) = (observation, isObserved, isUsed)
  }

  /// Examines a task, whose dependencies may be fresh, before its first run, and calls `done` on another queue.
  func examine(
    _ task: TaskDefinition, mayBeFresh: Bool, isFirst: Bool = true,
    then done: @escaping @Sendable (Bool) -> Void
  ) {
    if isFirst { runs.withLock { $0[task.name] = Run() } }
    let pause = isFirst ? 0 : Self.pause.milliseconds
    queue.asyncAfter(deadline: .now() + .milliseconds(pause)) { @Sendable [self] in
      let inputs = inputs(of: task)
      if isFirst && !isObserved && inputs.isRacy {
        // The same state is not racy later.
        return examine(task, mayBeFresh: mayBeFresh, isFirst: false, then: done)
      }
      let mayBeFresh =
        isUsed && mayBeFresh && !inputs.isIncomplete && isRecorded(task, inputs)
      done(
        runs.withLock { runs in
          guard let run = runs[task.name], run.began == Run().began, !run.hasChanged else {
            return false
          }
          // What is fresh runs later, with other inputs.
          if mayBeFresh { runs[task.name] = nil } else { runs[task.name]?.inputs = inputs }
          return mayBeFresh
        })
    }
  }

  private func isRecorded(_ task: TaskDefinition, _ inputs: FileSetState) -> Bool {
    let records = file.records
    return records.contains { record in
      guard record.task == task.name, record.inputs == inputs.digest,
        record.definition == definition(of: task, records)
      else { return false }
      let outputs = outputs(of: task)
      return record.outputs == outputs.digest && !outputs.isIncomplete
    }
  }

  /// A run of the task is about to begin: what was recorded is no longer true, however the run ends.
  func began(_ task: TaskDefinition) {
    if task.triggers.writes.patterns.isEmpty { return }
    if file.records.contains(where: { $0.task == task.name }) {
      do throws(SystemError) {
        try file.update(task.name) { _ in nil }
      } catch {
        removeFile(file.path)
      }
    }
    runs.withLock { runs in
      let before = runs.removeValue(forKey: task.name)
      if !task.mayBeFresh { return }
      // What was examined before a former run, or a change, says nothing about this one.
      let isUsable = before?.began == Run().began && before?.hasChanged == false
      let inputs = isUsable ? before?.inputs : nil
      runs[task.name] = Run(
        began: .latest(), hasUnknownOutputs: before?.hasUnknownOutputs ?? false, inputs: inputs)
    }
  }

  func changed(_ changes: [ChangeBatch.Change], of tasks: [TaskDefinition]) {
    for task in tasks where runs.withLock({ $0[task.name]?.hasChanged == false }) {
      guard changes.contains(where: task.triggers.isTriggered) else { continue }
      runs.withLock { $0[task.name]?.hasChanged = true }
    }
  }

  /// The task has another definition: what was examined, or has begun before, says nothing about it.
  func redefined(_ task: TaskDefinition) {
    runs.withLock { $0[task.name]?.hasChanged = true }
  }
}

// MARK: - Recording

extension FreshTasks {
  /// How long after its end the files of a run are examined again.
  static let pause = Duration.nanoseconds(FileTime.granularity + 5_000_000)

  /// So many entries are read at the end of a run, for which the runner waits: 15 ms if the kernel has them in memory.
  private static let mostEntriesAtEnd = 5_000

  /// A run has succeeded. The outputs are examined at once, before others learn of the end and may change them.
  func hasSucceeded(_ task: TaskDefinition) {
    guard let began = recordableRun(of: task) else { return }
    let ended = FileTime.latest()
    let outputs = outputs(of: task, mostEntries: Self.mostEntriesAtEnd)
    runs.withLock { runs in
      guard var run = runs[task.name], run.began == began else { return }
      (run.outputs, run.hasUnknownOutputs, run.ended) = (outputs, outputs.isIncomplete, ended)
      runs[task.name] = run
    }
  }

  /// When the latest run began, if its success may be recorded.
  func recordableRun(of task: TaskDefinition) -> FileTime? {
    guard task.mayBeFresh, let run = runs.withLock({ $0[task.name] }) else { return nil }
    let isRecordable =
      !run.hasChanged && !run.hasUnknownOutputs && (isObserved || run.inputs != nil)
    return isRecordable ? run.began : nil
  }

  /// Whether nothing that the task watches has changed since the run began, and no other run has begun.
  func isCurrent(_ task: TaskDefinition, _ began: FileTime) -> Bool {
    runs.withLock { $0[task.name].map { $0.began == began && !$0.hasChanged } ?? false }
  }

  /// Examines what a run has read and written, and calls `done` on another queue.
  func examine(
    _ task: TaskDefinition, _ began: FileTime, then done: @escaping @Sendable (Finding) -> Void
  ) {
    queue.async { [self] in
      let run = runs.withLock { $0[task.name] } ?? Run()
      let (inputs, outputs) = (inputs(of: task), outputs(of: task))
      let isProved =
        run.began == began && run.outputs?.isSame(as: outputs) == true && outputs.count > 0
        && outputs.newest <= run.ended && inputs.newest < began && !inputs.isIncomplete
        && !outputs.isIncomplete
        && (run.inputs.map { $0.isSame(as: inputs) && (isObserved || !$0.isRacy) } ?? isObserved)
      if !isProved { return done(.notProved) }
      done(
        inputs.isRacy || outputs.isRacy
          ? .early : .proved(inputs: inputs.digest, outputs: outputs.digest))
    }
  }

  /// Records a success, unless a dependency has none.
  func record(_ task: TaskDefinition, inputs: ContentDigest, outputs: ContentDigest) {
    // A file that cannot be written costs a run at the next start.
    try? file.update(task.name) { records in
      definition(of: task, records).map {
        FreshRecord(task: task.name, definition: $0, inputs: inputs, outputs: outputs)
      }
    }
  }
}

// MARK: - What a task is, reads and writes

extension FreshTasks {
  private func inputs(of task: TaskDefinition) -> FileSetState {
    var triggers = task.triggers
    // A change of any kind would show.
    triggers.kinds = [.modified]
    return FileSetState(of: triggers.watched, options: observation) { [triggers] path, type in
      triggers.isTriggered(by: ChangeBatch.Change(path: path, kind: .modified, type: type))
    }
  }

  private func outputs(of task: TaskDefinition, mostEntries: Int = 500_000) -> FileSetState {
    FileSetState(
      of: task.triggers.writes, watched: task.triggers.watched, mostEntries: mostEntries)
  }

  /// The digest of a task's command, and of the records of its dependencies; `nil` if one of them has none.
  private func definition(of task: TaskDefinition, _ records: [FreshRecord]) -> ContentDigest? {
    var definition: [UInt8] = []
    func add(_ bytes: [UInt8]) {
      withUnsafeBytes(of: bytes.count) { definition += $0 }
      definition += bytes
    }
    let command = task.command
    if case .shell(let shell) = command.form { add(shell) } else { add([]) }
    for word in command.words { add(word) }
    add(command.directory?.bytes ?? [])
    for variable in task.sharedVariables + command.environment.variables {
      add(variable.name)
      add(variable.value)
    }
    for pattern in task.triggers.writes.patterns { add(pattern.text) }
    for name in task.dependencies {
      guard let record = records.first(where: { $0.task == name }) else { return nil }
      add(Array(name.utf8))
      for digest in record.digests {
        withUnsafeBytes(of: (digest.high, digest.low)) { definition += $0 }
      }
    }
    return definition.withUnsafeBytes { ContentDigest(of: $0) }
  }
}
