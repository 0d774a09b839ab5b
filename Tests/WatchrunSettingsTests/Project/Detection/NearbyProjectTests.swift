import SystemCalls
import TestSupport
import Testing

@testable import WatchrunSettings

/// The error where there is no project.
struct NearbyProjectTests {
  private func remark(in place: String, of directory: TemporaryDirectory) -> String {
    ProjectSource(nil, directory: directory[place]).nothingFound().message
  }

  @Test func `the error says what to do`() throws {
    let directory = try TemporaryDirectory()
    #expect(
      remark(in: "", of: directory)
        == "no command given, no watchrun.json, and no project detected; "
        + "give a command, as in 'watchrun make test', or write a watchrun.json with "
        + "'watchrun --init'")
  }

  private static let flaws: [([String: String], String)] = [
    (
      ["package.json": "{"],
      "package.json is not valid JSON; give a command, as in 'watchrun make test', or write a "
        + "watchrun.json with 'watchrun --init'"
    ),
    (
      ["package.json": #"{"scripts": {"start": "x", "lint": "z", "dev": "y"}}"#],
      "package.json has no script 'build' or 'test', but 'dev', 'start', 'lint': "
        + "watchrun -r npm run dev"
    ),
    (
      ["package.json": #"{"scripts": {"lint": "z"}}"#, "yarn.lock": ""],
      "package.json has no script 'build' or 'test', but 'lint': watchrun yarn run lint"
    ),
    (
      ["package.json": #"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#],
      "the script 'test' in package.json is only the placeholder of npm init; give a command, as in "
        + "'watchrun make test', or write a watchrun.json with 'watchrun --init'"
    ),
    (
      [
        "package.json": #"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#,
        "index.js": "",
      ],
      "the script 'test' in package.json is only the placeholder of npm init; to run what is here: "
        + "watchrun -r node index.js; to write tasks: watchrun --init"
    ),
    (
      ["Hello.java": "", "notes.txt": ""],
      "no project detected; to run the file here: watchrun java Hello.java; to write tasks: "
        + "watchrun --init"
    ),
    (
      ["gulpfile.js": "", "vite.config.ts": ""],
      "no project detected; give a command, as in 'watchrun make test', or write a "
        + "watchrun.json with 'watchrun --init'"
    ),
    (
      ["a.c": "", "b.c": ""],
      "no project detected; give a command, as in 'watchrun make test', or write a "
        + "watchrun.json with 'watchrun --init'"
    ),
    (
      ["app.py": "app = Flask(__name__)"],
      "no project detected; to run what is here: watchrun -r flask run; to write tasks: "
        + "watchrun --init"
    ),
    (
      ["package.json": #"{"scripts": {"dev": "vite", "lint": "x"}}"#],
      "package.json has no script 'build' or 'test', but 'lint': watchrun npm run lint"
    ),
    (
      ["justfile": "deploy:\n  x\n_hidden:\n"],
      "justfile has no recipe 'build' or 'test', but 'deploy': watchrun COMMAND"
    ),
    (
      ["Makefile": "deploy:\n\tscp\nrun:\n\t./app\n"],
      "Makefile has no target that builds or tests, but 'run', 'deploy': watchrun make run"
    ),
    (
      ["package.json": #"{"scripts": {"start": "ng serve", "test": "ng test"}}"#],
      "the script 'test' in package.json watches by itself, and needs no watchrun; give a command, "
        + "as in 'watchrun make test', or write a watchrun.json with 'watchrun --init'"
    ),
    (
      ["configure.ac": "", "Makefile.am": "", "build-all.sh": ""],
      "no Makefile yet; make it, and start again: autoreconf -i && ./configure && watchrun"
    ),
    (
      ["configure.ac": "", "autogen.sh": ""],
      "no Makefile yet; make it, and start again: sh autogen.sh && ./configure && watchrun"
    ),
    (
      ["configure": "", "configure.ac": ""],
      "no Makefile yet; make it, and start again: ./configure && watchrun"
    ),
    (
      ["Procfile": "release: rake db:migrate"],
      "Procfile has no process that is a service, but 'release': watchrun COMMAND"
    ),
    (
      ["package.json": "{}", "Makefile": "up:\n\tx\n"],
      "Makefile has no target that builds or tests, but 'up': watchrun make up"
    ),
  ]

  @Test(arguments: flaws)
  func `the error names what is missing in a known file, and what to type instead`(
    files: [String: String], reason: String
  ) throws {
    let directory = try TemporaryDirectory()
    for (name, text) in files { try directory.write(text, to: name) }
    #expect(
      remark(in: "", of: directory) == "no command given, no watchrun.json, and \(reason)")
  }

  @Test func `the error names a project in an ancestor within the repository`() throws {
    let directory = try TemporaryDirectory()
    try directory.write("all: a.c\n\tcc a.c\n", to: "Makefile")
    try directory.makeDirectories("repository/Sources/Core")
    let core = directory["repository/Sources/Core"]
    #expect(NearbyProject.all(around: core).map(\.place) == ["../../.."])
    try directory.makeDirectories("repository/.git")
    #expect(NearbyProject.all(around: core).isEmpty)
    try directory.write(to: "repository/Package.swift")
    #expect(
      remark(in: "repository/Sources/Core", of: directory).hasSuffix(
        "; there is a Swift package (Package.swift) in ../..: watchrun -C ../.."))
    #expect(NearbyProject.all(around: directory["repository/Sources"]).map(\.place) == [".."])
  }

  @Test func `the error names the projects in subdirectories`() throws {
    let directory = try TemporaryDirectory()
    try directory.makeDirectories("docs")
    try directory.makeDirectories("server")
    try directory.makeDirectories("web")
    try directory.makeDirectories(".hidden")
    try directory.write(to: ".hidden/Makefile")
    try directory.write(to: "web/Cargo.toml")
    try directory.write("{}", to: "server/watchrun.json")
    #expect(
      remark(in: "", of: directory).hasSuffix(
        "; there is watchrun.json in server, a Rust project (Cargo.toml) in web: watchrun -C server"
      ))
  }
}
