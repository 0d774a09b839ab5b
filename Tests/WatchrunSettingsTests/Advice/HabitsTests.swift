import Synchronization
import SystemCalls
import Testing

@testable import WatchrunSettings

struct HabitsTests {
  /// An answer depends on the files of the project, which a build may change at that moment.
  @Test func `each row is asked once`() {
    let count = Mutex(0)
    let once = Habit { line in
      count.withLock { count in
        count += 1
        return count == 1 ? "use \(line.first)" : nil
      }
    }
    let other = Habit(words: ["other"]) { _ in "other" }
    let line = TypedLine(words: ["app".word], directory: ProjectDirectory(path: "/nowhere"))
    #expect(Habit.advice(for: line, among: [other, once]) == "use app")
    #expect(Habit.advice(for: line, among: [other, once]) == nil)
  }
}
