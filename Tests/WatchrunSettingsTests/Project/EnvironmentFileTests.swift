import ActionRunning
import SystemCalls
import TestSupport
import Testing

@testable import WatchrunSettings

/// Variables in dotenv syntax, as foreman, honcho and docker compose read them.
struct EnvironmentFileTests {
  private static let texts: [(String, [String])] = [
    ("A=1\nB=2", ["A=1", "B=2"]), ("", []), ("\n \n# A=1\n  # B\n", []),
    ("export A=1\n  export  B = 2 ", ["A=1", "B=2"]), ("exported=1", ["exported=1"]),
    ("A=\nB= \nC=''\nD=\"\"", ["A=", "B=", "C=", "D="]),
    ("A=1 # one\nB=a#b\nC= # none\nD=#x", ["A=1", "B=a#b", "C=", "D=#x"]),
    ("A='a b' # c\nB=\"x # y\"", ["A=a b", "B=x # y"]),
    (#"A="x\ny\"z\$\\""#, ["A=x\ny\"z$\\"]), (#"A='x\n'"#, [#"A=x\n"#]),
    (#"A=x\n"#, [#"A=x\n"#]), ("A=\"1\n2\"\nB='\n'", ["A=1\n2", "B=\n"]),
    ("A=$B ${C} $(date) `date`", ["A=$B ${C} $(date) `date`"]), ("A=a=b", ["A=a=b"]),
    ("\u{FEFF}A=1\r\nB='2'\r\n", ["A=1", "B=2"]), ("A\nB=1", ["B=1"]), ("a.b-c=1", ["a.b-c=1"]),
    ("A=it's", ["A=it's"]), ("A={\"a\": 1}", ["A={\"a\": 1}"]), ("A=1\nA=2", ["A=1", "A=2"]),
    ("A=\u{E9}", ["A=\u{E9}"]),
  ]

  @Test(arguments: texts)
  func `variables are read as other tools read them`(text: String, variables: [String]) throws {
    let read = try EnvironmentFile.variables(in: Array(text.utf8))
    #expect(read.map { "\($0.name.decoded)=\($0.value.decoded)" } == variables)
  }

  private static let mistakes: [(String, Int, String)] = [
    ("A=1\n\nB: 2", 3, "'B: 2' is not a variable; write NAME=VALUE"),
    ("=1", 1, "'=1' is not a variable; write NAME=VALUE"),
    ("source x", 1, "'source x' is not a variable; write NAME=VALUE"),
    ("A B=1", 1, "'A B=1' is not a variable; write NAME=VALUE"),
    (
      "A='1\n2\n", 1,
      "the quote of A is not closed; close it, or write the value without quotes"
    ),
    ("A=1\nB=a\0b", 2, "the value of B contains a NUL byte, which no variable can; remove it"),
    ("A=\"", 1, "the quote of A is not closed; close it, or write the value without quotes"),
    (
      "A=1\nB=\"x\ny\"z", 3,
      "'z' follows the quoted value of B; escape inner quotes as \\\", or quote with the other kind"
    ),
  ]

  @Test(arguments: mistakes)
  func `a line that cannot be read is named`(text: String, line: Int, message: String) {
    #expect(throws: EnvironmentFile.Problem(line, message)) {
      try EnvironmentFile.variables(in: Array(text.utf8))
    }
  }

  @Test func `what is set already is stronger, and the files of a task come last`() throws {
    let directory = try projectDirectory([".env": "HOME=/x\nA=1\nB=1", "b.env": "B=2"])
    let project = try readProject(
      "{ envFile: '.env', tasks: { a: { run: 'x', envFile: ['b.env'] } } }")
    let task = try #require(try project.readingEnvironmentFiles(in: directory.path).tasks.first)
    #expect(task.fileVariables.map(\.name.decoded) == ["A", "B", "B"])
    #expect(project.allEnvironmentFiles == [".env", "b.env"])
  }

  @Test func `a directory is no missing file`() throws {
    let directory = try projectDirectory(["a/b": ""])
    #expect(
      throws: Failure.usage(
        "cannot read the variables of a: it is not a regular file; name a file with lines NAME=VALUE"
      )
    ) {
      try EnvironmentFile.variables(of: "a", in: directory.path)
    }
  }

  @Test func `a missing file is an error`() throws {
    let directory = try projectDirectory([:])
    #expect(
      throws: Failure.usage(
        "cannot read the variables of .env: there is no such file; create it, or do not name it")
    ) {
      try EnvironmentFile.variables(of: ".env", in: directory.path)
    }
  }
}
