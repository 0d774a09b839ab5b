import FileObservation
import Support
import SystemCalls

// Asks at the start whether tasks are fresh, and records their successes, on the queue.

extension TaskRunner {
  /// After a pause of this length, files are not examined once more. Some file systems store whole seconds.
  private static let longestPause = Duration.seconds(1)

  func examine(_ name: String, mayBeFresh: Bool) {
    guard let freshness = options.freshness, let task = worker(name)?.definition else {
      return advance { $0.examined(name, isFresh: false) }
    }
    freshness.examine(task, mayBeFresh: mayBeFresh) { [self] isFresh in
      queue.async { [self] in advance { $0.examined(name, isFresh: isFresh) } }
    }
  }

  /// A run has succeeded: records that, unless something has changed since it began.
  func recordFresh(_ task: TaskDefinition) {
    guard let freshness = options.freshness, let began = freshness.recordableRun(of: task) else {
      return
    }
    state.access { $0.lastWork.pending += 1 }
    record(task, began, freshness, after: FreshTasks.pause)
  }

  private func record(
    _ task: TaskDefinition, _ began: FileTime, _ freshness: FreshTasks, after pause: Duration
  ) {
    _ = scheduler.schedule(at: scheduler.now.advanced(by: pause)) { [self] in
      freshness.examine(task, began) { [self] finding in
        // All changes are reported that were made before the files were examined.
        afterChanges { [self] in
          if case .early = finding, pause < Self.longestPause, freshness.isCurrent(task, began) {
            return record(task, began, freshness, after: pause * 4)
          }
          if case .proved(let inputs, let outputs) = finding, freshness.isCurrent(task, began) {
            freshness.record(task, inputs: inputs, outputs: outputs)
          }
          lastWorkHasEnded()
        }
      }
    }
  }

  /// Calls `body` on the queue when all changes so far were reported.
  private func afterChanges(_ body: @escaping @Sendable () -> Void) {
    queue.async { [self] in
      let source = options.freshness?.isObserved == true ? state.access { $0.source } : nil
      guard let source else { return body() }
      source.flush { [queue] in queue.async(execute: body) }
    }
  }
}
