import FileObservation
import Synchronization

/// Records the events of an observer, and waits for some of them.
package final class EventRecorder: Sendable {
  private let recorded = Mutex<[FileObserver.Event]>([])
  private let recordedFailures = Mutex<[ObserverError]>([])

  package init() {}

  /// The handler to start an observer with.
  package var handler: @Sendable (FileObserver.Event) -> Void {
    { event in self.recorded.withLock { $0.append(event) } }
  }

  /// The closure for failures.
  package var failureHandler: @Sendable (ObserverError) -> Void {
    { error in self.recordedFailures.withLock { $0.append(error) } }
  }

  package var events: [FileObserver.Event] { recorded.withLock { $0 } }

  package var batches: [ChangeBatch] {
    events.compactMap { if case .changed(let batch) = $0 { batch } else { nil } }
  }

  /// The changes of all batches, in order.
  package var changes: [ChangeBatch.Change] { batches.flatMap(\.changes) }

  package var readiness: FileObserver.Readiness? {
    events.lazy.compactMap { if case .ready(let readiness) = $0 { readiness } else { nil } }.first
  }

  package var warnings: [ObserverWarning] {
    events.compactMap { if case .warning(let error) = $0 { error } else { nil } }
  }

  package var failures: [ObserverError] { recordedFailures.withLock { $0 } }

  /// Forgets the recorded events.
  package func clear() {
    recorded.withLock { $0 = [] }
  }

  /// Waits until everything is watched.
  package func isReady() async -> Bool {
    await eventually { readiness != nil }
  }

  /// Waits until a change of this kind is reported for the path.
  package func sees(_ kind: ChangeBatch.Kind, _ path: Path) async -> Bool {
    await eventually { changes.contains { $0.path == path && $0.kind == kind } }
  }

  /// Waits until any change is reported for the path.
  package func sees(_ path: Path) async -> Bool {
    await eventually { changes.contains { $0.path == path } }
  }
}
