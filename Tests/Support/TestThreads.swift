import Foundation
import Synchronization
import Testing

/// Threads for tests that wait for processes, or block. Swift's own ones, one for each core, belong to the tests that
/// calculate: what resumes there waits for its turn among all of them, and what blocks there keeps all others waiting.
package final class TestThreads: TaskExecutor {
  fileprivate static let ofBlockingTests = TestThreads(count: 4)

  private let jobs = Mutex<[UnownedJob]>([])
  private let available = DispatchSemaphore(value: 0)

  package init(count: Int) {
    for _ in 0..<count {
      Thread.detachNewThread { [self] in
        while true {
          available.wait()
          let job = jobs.withLock { $0.removeFirst() }
          job.runSynchronously(on: asUnownedTaskExecutor())
        }
      }
    }
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    available.signal()
  }
}

/// The tests of a suite run on threads of their own.
package struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
  package let isRecursive = true

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(TestThreads.ofBlockingTests) { try await body() }
  }
}

extension Trait where Self == OwnThreads {
  /// For tests that block: they wait for the next tick of the kernel's clock, for instance.
  package static var blocks: OwnThreads { OwnThreads() }
}
