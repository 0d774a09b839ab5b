import TestSupport
import Testing

@testable import WatchrunSettings

/// Mistakes in a project file outside of a single task.
struct ProjectErrorTests {
  private static let files: [(String, String)] = [
    ("", "1:1: the file is empty; write { tasks: { … } }"),
    (
      "{ tasks: { a: { run: 'x' } }", "1:29: the object that begins at 1:1 is not closed; add a '}'"
    ),
    ("tasks:\n  build: make", "1:1: this is not JSON; a project file begins with '{'"),
    ("\n[tasks]\nbuild = 'make'", "2:1: this is not JSON; a project file begins with '{'"),
    ("# tasks\n{ tasks: { a: 'x' } }", "1:1: this is not JSON; a project file begins with '{'"),
    (
      "{ tasks: { p: { serve: 'x', after: ['b'] } } }",
      "1:37: there is no task 'b'; there are only pages"
    ),
    ("[]", "1:1: a project file must be an object, as in { … }, not an array"),
    ("{}", #"1:1: there is no task; write one, as in tasks: { build: { run: "make" } }"#),
    (
      "{ tasks: {} }",
      #"1:10: there is no task; write one, as in tasks: { build: { run: "make" } }"#
    ),
    ("{ taks: {} }", "1:3: a project file has no key 'taks'; did you mean 'tasks'?"),
    (
      "{ tasks: [] }",
      #"1:10: 'tasks' must be an object of tasks, as in { build: { run: "make" } }, not an array"#
    ),
    (
      "{ tasks: { a: { run: 'x' } }, jops: 2 }",
      "1:31: a project file has no key 'jops'; did you mean 'jobs'?"
    ),
    (
      "{ tasks: { a: { run: 'x' } }, run: 'x' }",
      "1:31: 'run' is a key of tasks, not of a project file; those are $schema, jobs, tasks, poll, ignore, skipUnchanged, debounce, shell, envFile, output, statusLine, timestamps, log, diagnostics, clear, notify, color"
    ),
    (
      "{ tasks: { a: { run: 'x' } }, jobs: 0 }",
      "1:37: 'jobs' must be an integer from 1 to 10000, not 0"
    ),
    (
      "{ tasks: { a: { run: 'x' } }, jobs: 1e23 }",
      "1:37: 'jobs' must be an integer from 1 to 10000, not 1e+23"
    ),
    (
      "{ tasks: { a: { run: 'x' } }, jobs: 1.5 }",
      "1:37: 'jobs' must be an integer from 1 to 10000, not 1.5"
    ),
    (
      "{ tasks: { a: { run: 'x' } }, jobs: '2' }",
      "1:37: 'jobs' must be an integer from 1 to 10000, not \"2\""
    ),
    (
      "{ tasks: { a: { run: 'x' }, p: { proxy: 'a' } } }",
      "1:41: the task 'a' has no 'port'; add port: \"auto\" to it, or write its port here"
    ),
    (
      "{ tasks: { a: { run: 'x' } }, ignore: false }",
      #"1:39: 'ignore' must be a pattern or an array of patterns, as in ["docs/**"], not false"#
    ),
    (
      "{ tasks: { a: { run: 'x' } }, debounce: 50 }",
      #"1:41: 'debounce' must be a duration or "auto", as in "50ms", not 50"#
    ),
    (
      "{ tasks: { a: { run: 'x' } }, poll: '5ms' }",
      "1:37: the interval is too short; write 10ms or more"
    ),
    (
      "{ tasks: { a: { run: 'x' } }, poll: 2 }",
      #"1:37: 'poll' must be true, false or an interval, as in "2s", not 2"#
    ),
    (
      "{ tasks: { a: { run: 'x' } }, shell: 'none' }",
      "1:38: a shell line needs a shell; to run a program without one, write 'run' as an array"
    ),
    (
      "{ tasks: { a: { run: 'x', shell: 'none' } } }",
      "1:34: a shell line needs a shell; to run a program without one, write 'run' as an array"
    ),
    (
      "{ tasks: { a: { run: 'x' } }, color: true }",
      #"1:38: 'color' must be one of "auto", "always", "never", not true"#
    ),
    (
      "{ tasks: { 'a b': { run: 'x' } } }",
      "1:12: 'a b' is not a valid task name; use letters, digits, '_', and, after the first character, '-', '.' and ':'"
    ),
    (
      "{ tasks: { '..': { run: 'x' } } }",
      "1:12: '..' is not a valid task name; use letters, digits, '_', and, after the first character, '-', '.' and ':'"
    ),
    (
      "{ tasks: { ':b': { run: 'x' } } }",
      "1:12: ':b' is not a valid task name; use letters, digits, '_', and, after the first character, '-', '.' and ':'"
    ),
    (
      "{ tasks: { a: { run: 'x', service: true, port: 80 }, b: { run: 'y', service: true, port: 80 } } }",
      "1:90: port 80 is already used by 'a'; choose another"
    ),
    (
      "{ tasks: { 'a-b': { run: 'x', service: true, port: 80 }, 'A.b': { run: 'y', service: true, port: 'auto' } } }",
      "1:58: the port of 'A.b' is in A_B_PORT, as that of 'a-b' is; rename one of them"
    ),
    (
      #"{ tasks: { a: { run: 'x', env: { A: 'a\u0000b' } } } }"#,
      "1:37: the value of A contains a NUL byte, which no variable can; remove it"
    ),
    (
      "{ tasks: { 'a\u{202E}b': { run: 'x' } } }",
      #"1:12: 'a\u{202E}b' is not a valid task name; use letters, digits, '_', and, after the first character, '-', '.' and ':'"#
    ),
    (
      #"{ tasks: { 'a\u009bb': { serve: '.' } } }"#,
      #"1:12: 'a\u{009B}b' is not a valid task name; use letters, digits, '_', and, after the first character, '-', '.' and ':'"#
    ),
    (
      "{ tasks: { a: { run: 'x' }, a: { run: 'y' } } }",
      "1:29: 'a' occurs twice; remove one"
    ),
    (
      "{ tasks: { build: { run: 'x' }, b: { run: 'y', after: ['biuld'] } } }",
      "1:56: there is no task 'biuld'; did you mean 'build'?"
    ),
    (
      "{ tasks: { build: { run: 'x' }, b: { run: 'y', after: ['zzz'] } } }",
      "1:56: there is no task 'zzz'; tasks: build"
    ),
    (
      "{ tasks: { a: { run: 'x' }, b: { run: 'y', after: ['a', 'a'] } } }",
      "1:57: 'a' occurs twice; remove one"
    ),
    (
      "{ tasks: { p: { serve: 'x' }, b: { run: 'y', after: ['p'] } } }",
      "1:54: 'p' is a page, and nothing can depend on a page; name a task"
    ),
    (
      "{ tasks: { a: { run: 'x', after: ['b'] }, b: { run: 'y', after: ['c'] },\nc: { run: 'z', after: ['a'] } } }",
      "1:35: tasks depend on one another: a → b → c → a; remove one of them from its 'after'"
    ),
    (
      "{ tasks: { a: { run: 'x', service: true }, b: { run: 'y', after: ['a'] } } }",
      "1:12: 'b' depends on the service 'a', which does not end; define when it is ready, as in ready: { port: 8080 }"
    ),
    (
      "{ tasks: { a: { run: 'x', keepAlive: true }, b: { run: 'y', after: ['a'] } } }",
      "1:12: 'b' depends on the service 'a', which does not end; define when it is ready, as in ready: { port: 8080 }"
    ),
    (
      "{ tasks: { a: { serve: 'x', port: 80 }, b: { serve: 'y', port: 80 } } }",
      "1:64: port 80 is already used by 'a'; choose another"
    ),
    (
      "{ tasks: { a: { run: 'x', service: true, listen: 80 }, b: { serve: 'y', port: 80 } } }",
      "1:79: port 80 is already used by 'a'; choose another"
    ),
  ]

  @Test(arguments: files)
  func `an invalid file is reported in one line`(text: String, problem: String) {
    #expect(ProjectProblems.of(text) == ["watchrun.json:" + problem])
  }

  @Test func `all problems are reported at once, in the order of the text`() {
    let text = """
      {
        jobs: "many",
        tasks: {
          build: { run: "make", wacth: ["src"] },
          test: { run: "make test", after: ["biuld"], timeout: 5 },
          server: { run: "./server", service: true },
          page: { proxy: 8080, port: 0, after: ["server"] },
        },
      }
      """
    #expect(
      ProjectProblems.of(text).map { $0.split(separator: " ")[0] } == [
        "watchrun.json:2:9:", "watchrun.json:4:27:", "watchrun.json:5:39:",
        "watchrun.json:5:58:", "watchrun.json:6:5:", "watchrun.json:7:32:",
      ])
  }

  @Test func `each of two cycles is reported once`() {
    let text = """
      { tasks: {
        a: { run: "x", after: ["b"] }, b: { run: "x", after: ["a"] },
        c: { run: "x", after: ["d"] }, d: { run: "x", after: ["c", "a"] },
      } }
      """
    #expect(ProjectProblems.of(text).count == 2)
    #expect(ProjectProblems.of(text).last?.contains("c → d → c") == true)
  }

  @Test func `pages take part in the checks`() {
    let text = """
      { tasks: {
        build: { run: "x", after: ["page", "paeg", "bulid"] },
        page: { serve: ".", after: ["page", "bulid"] },
      } }
      """
    #expect(
      ProjectProblems.of(text) == [
        "watchrun.json:2:30: 'page' is a page, and nothing can depend on a page; name a task",
        "watchrun.json:2:38: there is no task 'paeg'; "
          + "'build' is the only task, and a task cannot depend on itself",
        "watchrun.json:2:46: there is no task 'bulid'; "
          + "'build' is the only task, and a task cannot depend on itself",
        "watchrun.json:3:31: 'page' is a page, and nothing can depend on a page; name a task",
        "watchrun.json:3:39: there is no task 'bulid'; did you mean 'build'?",
      ])
  }

  @Test(arguments: 0..<10)
  func `no text crashes the reader, and every refusal has a message`(seed: UInt64) {
    let text = """
      { jobs: 2, ignore: ["docs/**"], tasks: { build: { run: "x", watch: ["S"], env: { A: "1" } },
        test: { run: ["x", "y"], after: ["build"], exts: ["c"], timeout: "1.5s", onBusy: "signal" },
        app: { run: "x", service: true, ready: { url: "http://a:1/b", timeout: "9s" }, after: [] },
        page: { proxy: 8080, port: 4000, reload: ["P"], after: ["app"] } } }
      """
    var random = SeededGenerator(seed: seed)
    var refused = 0
    for _ in 0..<Effort.count(500, quick: 60) {
      let mutated = random.mutated(json: random.mutated(json: Array(text.utf8)))
      do throws(Failure) {
        _ = try ProjectReader.read(mutated, as: "f")
      } catch {
        refused += 1
        let problems = ProjectProblems.of(mutated, as: "f")
        #expect(!problems.isEmpty && problems.allSatisfy { !$0.message.isEmpty }, "\(error)")
      }
    }
    #expect(refused > Effort.count(100, quick: 10))
  }

  @Test func `names and texts cannot write to a terminal`() {
    let all = ProjectProblems.of(
      #"{ tasks: { '\u001b[2J': { run: 'x', '\u001bk': 1, onBusy: '\u0007' } } }"#)
    #expect(all.count == 3)
    #expect(all.joined().utf8.allSatisfy { $0 >= 0x20 })
  }
}
