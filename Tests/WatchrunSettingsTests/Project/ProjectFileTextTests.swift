import Support
import SystemCalls
import TestSupport
import Testing

@testable import WatchrunSettings

/// A file that is merged over the project file.
struct ProjectFileTextTests {
  private func file(_ text: String, _ local: String) throws(Failure) -> Project {
    var texts = ProjectFileText(file: "watchrun.json", text: text.word)
    texts.local = ("watchrun.local.json", local.word)
    return try ProjectReader.read(texts).project
  }

  private static let text = """
    { jobs: 2, envFile: ['.env'], tasks: {
      a: { run: 'x', env: { A: '1', B: '2' }, watch: ['src', 'lib'] }, b: { run: 'y', service: true, ready: { port: 80 } } } }
    """

  @Test func `keys are replaced one by one, added, and removed by null`() throws {
    let project = try file(
      Self.text,
      """
      { envFile: null, shell: 'bash', tasks: {
        a: { env: { B: '3', C: '4' }, watch: ['src'] }, c: { run: 'z' },
        b: { ready: { port: null, url: 'http://localhost:1/' } } } }
      """)
    #expect(project.jobs == 2)
    #expect(project.environmentFiles.isEmpty)
    #expect(project.defaults["shell"] != nil)
    #expect(project.tasks.map(\.name) == ["a", "b", "c"])
    #expect(project.tasks[0].run == .line("x"))
    #expect(project.tasks[0].watched == ["src"])
    #expect(
      project.tasks[0].environment.map { "\($0.name.decoded)=\($0.value.decoded)" }
        == ["A=1", "B=3", "C=4"])
    #expect(project.tasks[1].readiness?.condition == .url("http://localhost:1/"))
  }

  private static let mistakes: [(String, [String])] = [
    (
      "{\n jops: 2 }",
      ["watchrun.local.json:2:2: a project file has no key 'jops'; did you mean 'jobs'?"]
    ),
    (
      "{ tasks: { a: { env: { B: 1 } } } }",
      [
        "watchrun.local.json:1:27: the variable 'B' must be a string, as in \"8080\", not a number"
      ]
    ),
    (
      "{ tasks: {",
      ["watchrun.local.json:1:11: the object that begins at 1:10 is not closed; add a '}'"]
    ),
    (
      "{ tasks: { b: { service: null } } }",
      [
        "watchrun.local.json:1:17: this causes an error at watchrun.json:2:98: 'ready' is for services; add service: true"
      ]
    ),
    (
      "{ tasks: { p: { run: 'x', after: ['lint'] },\n a: null, q: { run: 'y' } } }",
      ["watchrun.local.json:1:35: there is no task 'lint'; tasks: b, q"]
    ),
    (
      "{ envFile: [],\n tasks: null }",
      [
        "watchrun.local.json:2:2: this causes an error at watchrun.json:1:1: there is no task; write one, as in tasks: { build: { run: \"make\" } }"
      ]
    ),
    (
      "{ tasks: { b: { service: true }, b: { service: false } } }",
      ["watchrun.local.json:1:34: 'b' occurs twice; remove one"]
    ),
    (
      "{ tasks: { p: { run: 'x', run: 'y' }, a: { run: 'x', run: null } } }",
      [
        "watchrun.local.json:1:27: 'run' occurs twice; remove one",
        "watchrun.local.json:1:54: 'run' occurs twice; remove one",
      ]
    ),
  ]

  @Test(arguments: mistakes)
  func `a mistake is reported in the file that has it`(local: String, problems: [String]) {
    do throws(Failure) {
      _ = try file(Self.text, local)
      Issue.record("it was accepted")
    } catch {
      #expect(error.messages == problems)
    }
  }

  @Test func `a mistake of the first file is not that of the second`() {
    var texts = ProjectFileText(
      file: "watchrun.json",
      text:
        "{ tasks: { a: { run: 'x', after: ['nope'] }, p: { proxy: 's' }, s: { run: 'y', port: 1, service: true } } }"
        .word)
    texts.local = ("watchrun.local.json", "{ jobs: 3, tasks: { c: { run: 'z' },\n s: null } }".word)
    do throws(Failure) {
      _ = try ProjectReader.read(texts)
      Issue.record("it was accepted")
    } catch {
      #expect(error.messages.count == 2)
      #expect(error.messages.first == "watchrun.json:1:35: there is no task 'nope'; tasks: c")
      #expect(
        error.messages.last?.hasPrefix(
          "watchrun.local.json:2:2: this causes an error at watchrun.json:1:") == true)
    }
  }

  @Test func `its name is that of the project file`() {
    #expect(ProjectFileText.local(of: "watchrun.json") == "watchrun.local.json")
    #expect(ProjectFileText.local(of: "../a.b/w") == "../a.b/w.local")
    #expect(ProjectFileText.local(of: "ci/x.json5") == "ci/x.local.json5")
  }
}
