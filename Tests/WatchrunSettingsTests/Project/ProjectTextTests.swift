import TestSupport
import Testing

@testable import WatchrunSettings

struct ProjectTextTests {
  @Test func `each task is listed in a line`() throws {
    let project = try readProject(
      """
      { tasks: {
        build: { run: "make" },
        test: { run: ["make", "test"], watch: ["tests"], exts: ["py", ".sh"], after: ["build"] },
        lint: { run: "x", filter: ["*.c", "*.h"], postpone: true },
        server: { run: "./s", service: true, after: ["build", "test"], ready: { line: "up" } },
        once: { run: "y", watch: [] },
        page: { proxy: "http://localhost:1/", port: 4000, after: ["server"] },
        docs: { serve: "site", proxy: { "/api": 1 } },
        web: { run: "z", filter: ["*.js", "*.ts", "*.css", "*.html", "*.vue", "*.json", "*.md"] },
      } }
      """)
    let lines = ProjectText.list(project).split(separator: "\n").map(String.init)
    #expect(
      lines == [
        "build   make                                    on changes in .",
        "test    make test                               on changes in tests (*.py *.sh), after build",
        "lint    x                                       on changes in . (*.c *.h), not at the start",
        "server  ./s                                     "
          + "after build and test, service, ready when it prints \"up\"",
        "once    y                                       at the start",
        "web     z                                       "
          + "on changes in . (*.js *.ts *.css *.html *.vue and 2 more)",
        "page    proxy http://localhost:1/ on port 4000  after server",
        "docs    serve site, proxy /api=1                at once",
      ])
  }

  @Test func `as JSON, every kind of task and page is as the schema describes it`() throws {
    let project = try readProject(
      """
      { tasks: {
        build: { run: "make", directory: "src", postpone: true },
        test: { run: ["make", "test"], watch: ["tests"], exts: ["py", ".sh"], after: ["build"] },
        lint: { run: "x", filter: ["*.c", "!x.c"], ignore: ["y.c"], writes: ["log/**"] },
        server: { run: "./s", service: true, after: ["build", "test"], ready: { line: "up" } },
        other: { run: "./s", service: true, ready: { url: "http://localhost:1/" } },
        page: { proxy: "http://localhost:1/", port: 4000, after: ["server"], reload: "public" },
        docs: { serve: "site", proxy: { "/a": 1, "/b": "http://b" } },
      } }
      """)
    let text = ProjectText.json(project, file: "a/watchrun.json", detected: nil)
    #expect(try SchemaEvaluator(documented: "tasks.schema.json").accepts(text: text))
    #expect(text.hasSuffix("}\n") && !text.dropLast().contains("\n"))
    #expect(
      text.includes(
        #"{"name":"lint","run":"x","watch":["."],"exts":[],"filter":["*.c","!x.c"],"#
          + #""ignore":["y.c"],"writes":["log/**"],"after":[],"service":false,"postpone":false,"manual":false,"fresh":true}"#
      ))
    #expect(
      text.includes(
        #"{"name":"docs","serve":"site","proxy":{"/a":1,"/b":"http://b"},"reload":[],"after":[]}"#))
  }

  @Test func `a long command widens no column and is abridged in messages`() throws {
    let line = String(repeating: "x", count: 90)
    let project = try readProject(
      "{ tasks: { a: { run: '\(line)' }, bb: { run: 'make', watch: [] } } }")
    #expect(
      ProjectText.list(project)
        == "a   \(line)  on changes in .\nbb  make  at the start\n")
    let shown = ProjectText.abridged(ProjectText.shown(project.tasks[0].run))
    #expect(shown.count == 80 && shown.hasSuffix("x…"))
    #expect(ProjectText.abridged(ProjectText.shown(project.tasks[1].run)) == "make")
  }

  @Test func `the example is read as it was written`() throws {
    #expect(try readProject(ProjectText.file(.example)) == .example)
  }

  @Test func `a file is indented JSON, and long arrays are broken into lines`() throws {
    let project = try readProject(
      """
      { jobs: 2, ignore: ["*.md", "a-rather-long-directory/**", "another-rather-long-directory/**", "x"],
        tasks: { build: { run: "make" }, test: { run: ["make", "test"], after: "build" } } }
      """)
    #expect(
      ProjectText.file(project, hasSchema: true) == """
        {
          "$schema": "\(ProjectSchema.address)",
          "jobs": 2,
          "ignore": [
            "*.md",
            "a-rather-long-directory/**",
            "another-rather-long-directory/**",
            "x"
          ],
          "tasks": {
            "build": {
              "run": "make",
              "watch": ["."]
            },
            "test": {
              "run": ["make", "test"],
              "after": ["build"]
            }
          }
        }

        """)
  }

  @Test func `what a task writes is written into a file, and read again`() throws {
    let project = try readProject("{ tasks: { a: { run: 'x', writes: ['a.txt', 'log/**'] } } }")
    let text = ProjectText.file(project)
    #expect(text.includes(#""writes": ["a.txt", "log/**"]"#))
    #expect(try readProject(text) == project)
  }
}
