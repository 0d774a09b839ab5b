import FileObservation
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

struct CommandTests {
  /// The request for a command as the command line runs it.
  private func request(
    _ command: Command, _ trigger: RunTrigger, by delivery: Command.ChangeDelivery = .environment,
    inherited: [String] = [], pathsFile: Path? = nil,
    input: Path? = nil, adding variables: [Command.EnvironmentVariable] = [],
    limits: Command.ArgumentLimits = .usual
  ) -> SpawnRequest {
    command.describingChanges(by: delivery).spawnRequest(
      for: trigger,
      in: Command.LaunchContext(
        inherited: inherited.map { Array($0.utf8) }, currentDirectory: "/p", pathsFile: pathsFile,
        input: input, variables: variables, limits: limits))
  }

  private func words(_ command: Command, _ paths: Path...) -> [String] {
    request(command, RunTrigger(.change, changes: paths.map { .of($0, .modified) })).arguments
      .map { String(decoding: $0, as: UTF8.self) }
  }

  private func shell(_ words: String...) -> Command {
    Command(words: words.map { Array($0.utf8) }, form: .shell(Array("sh".utf8)))
  }

  /// The variables that are ours, and no others.
  private func variables(_ request: SpawnRequest) -> [String: String] {
    let pairs = request.environment.map { variable in
      let text = String(decoding: variable, as: UTF8.self)
      let cut = text.firstIndex(of: "=") ?? text.endIndex
      return (String(text[..<cut]), String(text[cut...].dropFirst()))
    }
    return Dictionary(pairs) { first, second in "twice: \(first), \(second)" }
  }

  @Test func `each path is an argument of its own`() {
    #expect(words(Command("cc", "{}", "-c"), "/p/a", "/p/b c") == ["cc", "a", "b c", "-c"])
    #expect(words(Command("cc", "{first}", "/_"), "/p/a", "/p/b") == ["cc", "a", "a"])
  }

  @Test func `without a changed path, placeholders are left out`() {
    #expect(words(Command("cc", "{}", "{first}", "/_", "x")) == ["cc", "x"])
  }

  @Test func `only whole words are placeholders`() {
    #expect(
      words(Command("cc", "a{}", "{}{}", "{firsts}"), "/p/a") == ["cc", "a{}", "{}{}", "{firsts}"])
  }

  @Test func `tests are arguments, and all run where their list is too long`() {
    func words(_ command: Command, _ tests: Path..., limit: Int = 100) -> [String] {
      var command = command.describingChanges()
      command.testMap = TestMap([])
      let request = command.spawnRequest(
        for: RunTrigger(.change),
        in: .init(
          currentDirectory: "/p", tests: tests, limits: .init(arguments: limit, variable: 0)))
      return request.arguments.map { String(decoding: $0, as: UTF8.self) }
    }
    #expect(words(Command("t", "{tests}", "x"), "-a", "b c") == ["t", "./-a", "b c", "x"])
    #expect(words(Command("t", "{tests}", "x"), "-a", "b c", limit: 6) == ["t", "x"])
    #expect(
      words(shell("t {tests} | cat"), "$(id)")
        == ["sh", "-c", #"t "$@" | cat"#, "watchrun", "$(id)"])
  }

  @Test func `a path is never taken for an option`() {
    #expect(
      words(Command("rm", "{}"), "/p/-rf", "/p/d/-x", "/-y") == ["rm", "./-rf", "d/-x", "/-y"])
  }

  @Test func `a path is seen from where the command runs`() {
    var command = Command("cc", "{}")
    command.directory = "sub"
    #expect(words(command, "/p/sub/f", "/p/f", "/p/sub") == ["cc", "f", "/p/f", "."])
    #expect(request(command, .change("/p/f")).directory == "sub")
  }

  @Test func `a path that is not UTF-8 arrives byte for byte`() {
    let name: [UInt8] = [0x61, 0xFF, 0x0A]
    let trigger = RunTrigger.change(Path("/p").appending(name))
    #expect(request(Command("cc", "{}"), trigger).arguments.last == name)
  }

  @Test func `a single word is the shell's command line, unchanged`() {
    #expect(words(shell("echo {} > $HOME"), "/p/a") == ["sh", "-c", "echo {} > $HOME"])
  }

  @Test func `at the start, entr's placeholder is the first path of the list`() {
    var command = Command("cc", "/_", "{first}", "{}")
    command.firstPathAtStart = "a"
    #expect(words(command) == ["cc", "a"])
    #expect(words(command, "/p/b") == ["cc", "b", "b", "b"])
  }

  @Test func `in a shell line, paths are the shell's arguments and never its text`() {
    #expect(
      words(shell("echo", "{}", "|", "cat"), "/p/$(id)", "/p/b c")
        == ["sh", "-c", #"echo "$@" | cat"#, "watchrun", "$(id)", "b c"])
    #expect(
      words(shell("echo", "/_", "{first}"), "/p/;rm")
        == ["sh", "-c", #"echo ${1+"$1"} ${1+"$1"}"#, "watchrun", ";rm"])
    #expect(words(shell("echo", "a"), "/p/x") == ["sh", "-c", "echo a"])
  }

  @Test func `the environment lists the changes`() {
    let trigger = RunTrigger.change("/p/a", "/p/b c")
    #expect(
      variables(request(Command("c"), trigger, pathsFile: "/tmp/paths")) == [
        "WATCHRUN_REASON": "change", "WATCHRUN_COUNT": "2", "WATCHRUN_FIRST": "/p/a",
        "WATCHRUN_PATHS": "/p/a\n/p/b c", "WATCHRUN_PATHS_FILE": "/tmp/paths",
      ])
    #expect(
      variables(request(Command("c"), RunTrigger(.start))) == [
        "WATCHRUN_REASON": "start", "WATCHRUN_COUNT": "0", "WATCHRUN_FIRST": "",
        "WATCHRUN_PATHS": "",
      ])
  }

  @Test func `inherited variables stay, except replaced ones and those of an outer watchrun`() {
    var command = Command("c")
    command.environment = ["LANG": "C", "LANG": "a=b", "WATCHRUN_COUNT": "many"]
    let inherited = [
      "HOME=/h", "LANG=de", "WATCHRUN_TRUNCATED=1", "WATCHRUN_OTHER=x", "WATCHRUNX=y",
    ]
    let passed = variables(request(command, RunTrigger(.start), inherited: inherited))
    #expect(
      passed == [
        "HOME": "/h", "LANG": "a=b", "WATCHRUNX": "y", "WATCHRUN_REASON": "start",
        "WATCHRUN_COUNT": "many", "WATCHRUN_FIRST": "", "WATCHRUN_PATHS": "",
      ])
  }

  @Test func `a list too long for a variable is cut between two paths, and says so`() throws {
    let changes = (0..<5000).map {
      ChangeBatch.Change.of(Path("/p/some-directory/file-\($0)"), .modified)
    }
    let passed = variables(request(Command("c"), RunTrigger(.change, changes: changes)))
    let listed = try #require(passed["WATCHRUN_PATHS"])
    #expect(listed.utf8.count <= 64 * 1024 && listed.utf8.count > 63 * 1024)
    let paths = listed.split(separator: "\n").map { Path(String($0)) }
    #expect(paths == Array(changes.map(\.path).prefix(paths.count)))
    #expect(passed["WATCHRUN_TRUNCATED"] == "1")
    #expect(passed["WATCHRUN_COUNT"] == "5000")
  }

  @Test func `a list too long for the kernel's arguments is cut`() {
    let changes = (0..<60_000).map { ChangeBatch.Change.of(Path("/p/some/file-\($0)"), .modified) }
    let arguments = request(Command("c", "{}"), RunTrigger(.change, changes: changes)).arguments
    let size = arguments.reduce(0) { $0 + $1.count + 1 }
    #expect(size <= 520 * 1024 && size > 500 * 1024)
  }

  @Test func `a command that may not read has nothing to read`() {
    var command = Command("c")
    #expect(request(command, RunTrigger(.start)).standardInput == .inherited)
    command.inheritsStandardInput = false
    #expect(request(command, RunTrigger(.start)).standardInput == .null)
  }

  @Test(arguments: [Command.ChangeDelivery.lines(separatedByNUL: true), .json, .none])
  func `with another change delivery, the environment contains only the reason`(
    changeDelivery: Command.ChangeDelivery
  ) {
    let request = request(
      Command("c", "{}"), .change("/p/a"), by: changeDelivery, input: "/tmp/input")
    #expect(variables(request) == ["WATCHRUN_REASON": "change"])
    #expect(request.arguments.last == Array("a".utf8))
    #expect(request.standardInput == .file("/tmp/input"))
  }

  @Test func `standard input is the file with the changes`() {
    let trigger = RunTrigger.change("/p/a", "/p/b\nc")
    func text(_ changeDelivery: Command.ChangeDelivery) -> String? {
      changeDelivery.text(for: trigger, number: 2).map { String(decoding: $0, as: UTF8.self) }
    }
    #expect(text(.environment) == nil)
    #expect(text(.none) == nil)
    #expect(text(.lines(separatedByNUL: false)) == "/p/a\n\"/p/b\\nc\"\n")
    #expect(text(.lines(separatedByNUL: true)) == "/p/a\0/p/b\nc\0")
    #expect(text(.json) == JSONText.object(2, trigger) + "\n")
  }

  @Test func `a hook receives the status of the run`() {
    let passed = variables(
      request(
        Command("c"), RunTrigger(.start),
        adding: [.init("WATCHRUN_STATUS", "7"), .init("WATCHRUN_DURATION_MS", "12")]))
    #expect(passed["WATCHRUN_STATUS"] == "7" && passed["WATCHRUN_DURATION_MS"] == "12")
  }

  @Test func `where the kernel does not take the lists, shorter ones say so`() {
    let changes = (0..<20_000).map { ChangeBatch.Change.of(Path("/p/file-\($0)"), .modified) }
    let trigger = RunTrigger(.change, changes: changes)
    let sizes = Command.ArgumentLimits.all.map { limits in
      let request = request(Command("c", "{}"), trigger, limits: limits)
      #expect(variables(request)["WATCHRUN_TRUNCATED"] == "1")
      #expect(variables(request)["WATCHRUN_COUNT"] == "20000")
      return request.arguments.joined().count + request.environment.joined().count
    }
    #expect(sizes == sizes.sorted(by: >))
    let last = request(
      Command("c", "{}"), trigger, limits: Command.ArgumentLimits.all.last ?? .usual)
    #expect(last.arguments.count == 1)
    #expect(variables(last)["WATCHRUN_PATHS"] == "")
  }
}
