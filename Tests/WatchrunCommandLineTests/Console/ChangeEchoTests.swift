import SystemCalls
import Testing

@testable import WatchrunCommandLine

struct ChangeEchoTests {
  private var echo = ChangeEcho()

  private mutating func isEcho(_ lines: String..., at time: Double) -> Bool {
    echo.isEcho(lines, at: Instant(offset: .seconds(time)))
  }

  @Test mutating func `what was said shortly before is an echo, and not said again`() {
    #expect(!isEcho("modified log", at: 10))
    #expect(isEcho("modified log", at: 10.1))
    #expect(isEcho("modified log", at: 10.9))
  }

  @Test mutating func `two logs are echoes of each other`() {
    #expect(!isEcho("modified a", at: 10))
    #expect(!isEcho("modified b", at: 10.1))
    #expect(isEcho("modified a", "modified b", at: 10.2))
  }

  @Test mutating func `another change is said, with what was said before`() {
    #expect(!isEcho("modified log", at: 10))
    #expect(!isEcho("modified log", "modified main.c", at: 10.1))
  }

  @Test mutating func `the same change is said again later, and after other messages`() {
    #expect(!isEcho("modified log", at: 10))
    #expect(!isEcho("modified log", at: 11))
    echo.reset()
    #expect(!isEcho("modified log", at: 11.1))
  }
}
