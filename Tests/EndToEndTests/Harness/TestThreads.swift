import Foundation
import Synchronization

/// Threads for tests that wait for processes. Swift's own ones, one for each core, belong to the tests that
/// calculate: what resumes there waits for its turn among all of them.
final class TestThreads: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])
  private let available = DispatchSemaphore(value: 0)

  init(count: Int) {
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

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    available.signal()
  }
}
