import Dispatch
import Support
import Testing

struct ConfinedTests {
  private let observer = DispatchQueue(label: "watchrun.observer")
  private let tasks = DispatchQueue(label: "watchrun.tasks")
  private let other = DispatchQueue(label: "other")

  init() {
    for queue in [observer, tasks, other] { _ = Confined((), to: queue) }
  }

  @Test func `a queue waits only for those after it`() {
    #expect(tasks.mayBeAwaited, "any thread may wait")
    observer.sync {
      #expect(tasks.mayBeAwaited && other.mayBeAwaited)
      #expect(!observer.mayBeAwaited, "it would wait for itself")
    }
    tasks.sync { #expect(!observer.mayBeAwaited && other.mayBeAwaited) }
    #expect(observer.wait { tasks.wait { observer.mayBeAwaited } } == false)
  }
}
