import SystemCalls
import TestSupport
import Testing

@testable import WatchrunCommandLine

struct LaunchProspectsTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    try directory.makeDirectories("watched/tests")
  }

  private func mayImprove(
    _ program: String, code: Int32 = ENOENT, call: String = "posix_spawn",
    programs: [Path] = ["/usr/bin", "/bin"]
  ) -> Bool {
    LaunchProspects(
      directory: directory["watched"], watched: [directory["watched"]], programs: programs
    ).mayImprove(after: SystemError(call: call, code: code, path: Path(program)))
  }

  @Test(arguments: ["nosuch", "-x", "/usr/bin/nosuch", "../nosuch", "**/*.js", "./*.c"])
  func `a program that no change in the watched tree makes has none`(program: String) {
    #expect(!mayImprove(program))
  }

  @Test(arguments: ["./app", "build/app", "../watched/app", "tests/nosuch"])
  func `a path in the watched tree may be made`(program: String) {
    #expect(mayImprove(program))
    #expect(mayImprove(directory["watched/\(program)"].description))
  }

  @Test func `a program may be made in a directory of PATH that is watched`() {
    #expect(mayImprove("nosuch", programs: ["/usr/bin", "node_modules/.bin"]))
    #expect(mayImprove("nosuch", programs: ["/usr/bin", "."]))
    #expect(!mayImprove("nosuch", programs: []))
  }

  @Test func `a file in the watched tree may become executable, and a directory may not`() throws {
    try directory.write("#!/bin/sh\n", to: "watched/app.sh")
    #expect(mayImprove("./app.sh", code: EACCES))
    #expect(!mayImprove("tests/", code: EACCES))
    #expect(!mayImprove("/etc/passwd", code: EACCES))
  }

  @Test func `other reasons may pass`() {
    #expect(mayImprove("nosuch", call: "chdir"))
    #expect(mayImprove("sh", code: EAGAIN))
    #expect(mayImprove("sh", code: ETXTBSY))
  }
}
