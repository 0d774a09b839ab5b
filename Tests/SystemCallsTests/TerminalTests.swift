import SystemCalls
import TestSupport
import Testing

struct TerminalTests {
  /// A terminal that controls no session, and its other side.
  private final class Line: Sendable {
    let terminal: Terminal
    private let other: Int32

    init() throws {
      let opened = try openPseudoTerminal()
      other = opened.ours
      terminal = Terminal(opened.theirs)
    }

    deinit { close(terminal.descriptor) }

    func type(_ text: String) throws { try writeAll(Array(text.utf8), to: other) }

    func hangUp() { close(other) }
  }

  @Test func `a terminal is recognised`() throws {
    let line = try Line()
    defer { line.hangUp() }
    #expect(Terminal.isTerminal(line.terminal.descriptor))
    let null = try Descriptor.open("/dev/null", O_RDONLY)
    #expect(!Terminal.isTerminal(null.number))
  }

  @Test func `modes can be changed and restored`() throws {
    let line = try Line()
    defer { line.hangUp() }
    let found = try line.terminal.modes()
    try line.terminal.setModes(found.forKeys)
    #expect(try line.terminal.modes() == found.forKeys)
    #expect(found != found.forKeys)
    try line.terminal.setModes(found)
    #expect(try line.terminal.modes() == found)
  }

  @Test func `input is available at once in the modes for keys, otherwise line by line`()
    async throws
  {
    let line = try Line()
    defer { line.hangUp() }
    let found = try line.terminal.modes()
    try line.type("a")
    #expect(line.terminal.typed() == [])
    try line.type("\n")
    #expect(await eventually { line.terminal.typed() == Array("a\n".utf8) })
    try line.terminal.setModes(found.forKeys)
    try line.type("b")
    #expect(await eventually { line.terminal.typed() == Array("b".utf8) })
    #expect(line.terminal.typed() == [])
  }

  @Test func `a terminal of another session is not ours`() throws {
    let line = try Line()
    defer { line.hangUp() }
    #expect(line.terminal.foregroundGroup == nil)
    #expect(!line.terminal.isForeground)
  }

  @Test func `a terminal that was hung up is gone`() async throws {
    let line = try Line()
    #expect(!line.terminal.isGone)
    line.hangUp()
    // A process that another test is just starting has our end as well, until it executes its program.
    #expect(await eventually { line.terminal.isGone })
    #expect(throws: SystemError.self) { try line.terminal.modes() }
  }

  @Test func `input is reported once`() async throws {
    let line = try Line()
    let input = try TerminalInput(line.terminal, includesKeys: true)
    let number = input.number
    @Sendable func isReadable() -> Bool {
      var waiting = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
      return poll(&waiting, 1, 0) == 1
    }
    input.acknowledge()
    #expect(!isReadable())
    try line.type("a\n")
    #expect(await eventually { isReadable() })
    input.acknowledge()
    #expect(!isReadable(), "though it is still to be read")
    try line.type("b\n")
    #expect(await eventually { isReadable() })
    input.acknowledge()
    line.hangUp()
    #expect(await eventually { isReadable() })
  }

  @Test(arguments: [true, false])
  func `the use of a terminal is reported on request, and its absence is not`(
    _ includesKeys: Bool
  ) async throws {
    let line = try Line()
    defer { line.hangUp() }
    let input = try TerminalInput(line.terminal, includesKeys: includesKeys)
    let number = input.number
    @Sendable func isReadable(within time: Int32 = 0) -> Bool {
      var waiting = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
      return poll(&waiting, 1, time) == 1
    }
    try writeAll(Array("output".utf8), to: line.terminal.descriptor)
    #expect(!isReadable(within: 50))
    input.reportActivity(true)
    #expect(isReadable(within: 10_000))
    input.acknowledge()
    #expect(!isReadable(within: 50))
    try writeAll(Array("output".utf8), to: line.terminal.descriptor)
    #expect(isReadable(within: 10_000))
    input.acknowledge()
    try line.terminal.setModes(line.terminal.modes())
    #expect(isReadable(within: 10_000))
    input.reportActivity(false)
    input.acknowledge()
    try writeAll(Array("output".utf8), to: line.terminal.descriptor)
    #expect(!isReadable(within: 50))
  }

  @Test func `without keys only the hang-up is reported`() async throws {
    let line = try Line()
    let input = try TerminalInput(line.terminal, includesKeys: false)
    let number = input.number
    var waiting = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
    try line.type("a\n")
    #expect(poll(&waiting, 1, 50) == 0)
    line.hangUp()
    #expect(poll(&waiting, 1, 10_000) == 1)
  }
}
