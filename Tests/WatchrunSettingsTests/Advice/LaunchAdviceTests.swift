import SystemCalls
import TestSupport
import Testing

@testable import WatchrunSettings

struct LaunchAdviceTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func explanation(_ words: String..., code: Int32 = ENOENT) -> String {
    LaunchAdvice(words: words.map { Array($0.utf8) }, directory: directory.path)
      .explanation(of: SystemError(call: "execve", code: code, path: Path(words[0])))
  }

  @Test func `a missing interpreter is distinguished from a missing script`() throws {
    #expect(explanation("./app.sh") == "there is no file ./app.sh")
    try directory.write("#!/bin/nosuch -x\n", to: "app.sh")
    #expect(
      explanation("./app.sh")
        == "the interpreter of ./app.sh does not exist: /bin/nosuch; correct its first line")
    try directory.write("#!/bin/sh\r\n", to: "app.sh")
    #expect(
      explanation("./app.sh")
        == "the first line of ./app.sh ends with a carriage return; remove it: "
        + "sed -i 's/\\r$//' ./app.sh")
    try directory.write("\u{7F}ELF", to: "app.sh")
    #expect(
      explanation("./app.sh") == "the dynamic linker that ./app.sh needs is not installed")
  }

  @Test func `a file that is not executable is run by its interpreter`() throws {
    try directory.write(to: "a.py")
    try directory.write(to: "data")
    #expect(
      explanation("./a.py", "x", code: EACCES)
        == "./a.py is not executable; write: watchrun python3 ./a.py x")
    #expect(
      explanation("./data", code: EACCES)
        == "it is not executable; make it executable: chmod +x ./data")
    try directory.makeDirectories("src")
    #expect(
      explanation("./src", "make", code: EACCES)
        == "'./src' is a directory; to watch it: watchrun -w ./src make")
  }
}
