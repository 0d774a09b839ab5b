import SystemCalls
import TestSupport
import Testing

@testable import WatchrunCommandLine

/// The error where there is no project.
struct NearbyProjectTests {
  private func remark(in place: String, of directory: TemporaryDirectory) -> String {
    ProjectSource(nil, directory: directory[place]).nothingFound().message
  }

  @Test func `the error lists the known files`() throws {
    let directory = try TemporaryDirectory()
    #expect(
      remark(in: "", of: directory)
        == "no command given, no watchrun.json, and no project detected; "
        + "give a command, as in 'watchrun make test', or write a watchrun.json with "
        + "'watchrun --init' (detected are: Package.swift, Cargo.toml, go.mod, build.zig, package.json, deno.json, "
        + "pyproject.toml, Rakefile, mix.exs, build.gradle, pom.xml, *.sln, CMakeLists.txt, "
        + "meson.build, Makefile, justfile, Procfile)")
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
      ["justfile": "deploy:\n  x\n_hidden:\n"],
      "justfile has no recipe 'build' or 'test', but 'deploy': watchrun just deploy"
    ),
    (
      ["Makefile": "deploy:\n\tscp\nrun:\n\t./app\n"],
      "Makefile has no target that builds or tests, but 'run', 'deploy': watchrun make run"
    ),
    (
      ["Procfile": "release: rake db:migrate"],
      "Procfile has no process that is a service, but 'release': watchrun 'rake db:migrate'"
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
    try directory.write(to: "Makefile")
    try directory.makeDirectories("repository/Sources/Core")
    #expect(NearbyProject(around: directory["repository/Sources/Core"]) == nil)
    try directory.makeDirectories("repository/.git")
    #expect(NearbyProject(around: directory["repository/Sources/Core"]) == nil)
    try directory.write(to: "repository/Package.swift")
    #expect(
      remark(in: "repository/Sources/Core", of: directory).hasSuffix(
        "; there is a Swift package (Package.swift) in ../..: watchrun -C ../.."))
    #expect(NearbyProject(around: directory["repository/Sources"])?.place == Path(".."))
  }

  @Test func `the error names the first project in a subdirectory`() throws {
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
        "; there is watchrun.json in server: watchrun -C server"))
  }
}
