import SystemCalls
import Testing

struct SignalTests {
  @Test(arguments: [
    ("TERM", SIGTERM), ("SIGTERM", SIGTERM), ("sigterm", SIGTERM), ("term", SIGTERM),
    ("15", SIGTERM), ("Usr1", SIGUSR1), ("WINCH", SIGWINCH), ("1", SIGHUP), ("64", 64),
  ])
  func `is known by its name and its number`(name: String, number: Int32) {
    #expect(Signal(name: name)?.rawValue == number)
  }

  @Test(arguments: ["", "0", "65", "-1", "SIG", "TERMS", "SIGSIGTERM", "TERM "])
  func `an unknown name or number is no signal`(name: String) {
    #expect(Signal(name: name) == nil)
  }

  @Test func `is described by a name that is its own`() {
    for name in Signal.names {
      #expect(Signal(name: name)?.description == "SIG" + name)
    }
    #expect(Signal(rawValue: 50).description == "signal 50")
  }
}
