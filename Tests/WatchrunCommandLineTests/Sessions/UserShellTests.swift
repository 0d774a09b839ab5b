import SystemCalls
import TestSupport
import Testing

@testable import WatchrunCommandLine
@testable import WatchrunSettings

@Suite struct UserShellTests {
  @Test(arguments: ["zsh", "nologin", "false"])
  func `the user's shell runs lines unless it refuses to`(name: String) throws {
    let directory = try TemporaryDirectory()
    try directory.write("#!/bin/sh\n", to: name)
    try directory.setMode(0o755, of: name)
    for value in [name, directory[name].description] {
      let shell = UserShell(value, in: [directory.path])
      let isUsed = name == "zsh"
      #expect(shell.name == Array((isUsed ? value : "sh").utf8))
      #expect(
        shell.problem
          == (isUsed
            ? nil
            : "$SHELL is '\(value)', which runs no commands: sh is used; to choose a shell, give --shell")
      )
    }
  }

  @Test(arguments: ["/no/such/shell", "no-such-shell", "."])
  func `a shell that does not exist is replaced by sh`(value: String) throws {
    let shell = UserShell(value, in: [try TemporaryDirectory().path])
    #expect(shell.name == Array("sh".utf8))
    #expect(
      shell.problem
        == "$SHELL is '\(value)', which is not an executable program: sh is used; to choose a shell, give --shell"
    )
  }

  @Test(arguments: [nil, ""])
  func `without a shell of the user, sh is used without a message`(value: String?) {
    let shell = UserShell(value)
    #expect(shell.name == Array("sh".utf8) && shell.problem == nil)
  }

  @Test(
    arguments: [
      (["make test"], true), (["make"], false), (["make", "a b"], false),
      (["--shell", "bash", "make test"], false), (["--shell", "none", "make test"], false),
      (["--build", "make", "./app"], true), (["--on-success", "x", "make"], true),
      (["--on-failure", "x", "make"], true),
    ] as [([String], Bool)])
  func `the user's shell is needed for lines of the command line`(words: [String], needs: Bool)
    throws
  {
    #expect(try OptionParser.parse(words.map { Array($0.utf8) }).needsUserShell == needs)
  }
}
