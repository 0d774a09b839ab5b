import SystemCalls
import TestSupport
import Testing

@testable import WatchrunCommandLine

/// What is said where there is no project.
struct NearbyProjectTests {
  private func remark(in place: String, of folder: TemporaryDirectory) -> String {
    ProjectSource(Settings(), directory: folder[place]).nothingFound().message
  }

  @Test func `the files that are known are named`() throws {
    let folder = try TemporaryDirectory()
    #expect(
      remark(in: "", of: folder)
        == "nothing to do: no command, no watchrun.json, and no project that is known "
        + "(Package.swift, Cargo.toml, go.mod, package.json, pyproject.toml, pytest.ini, "
        + "CMakeLists.txt, Makefile); give a command, as in 'watchrun make test', or write a file "
        + "with --init")
  }

  @Test(
    arguments: [
      ("{", "a package.json that is no JSON"),
      (#"{"scripts": {"start": "x"}}"#, "a package.json without a script 'build' or 'test'"),
    ])
  func `a file that is there is not said to be missing`(text: String, reason: String) throws {
    let folder = try TemporaryDirectory()
    try folder.write(text, to: "package.json")
    #expect(
      remark(in: "", of: folder)
        == "nothing to do: no command, no watchrun.json, and \(reason); give a command, as in "
        + "'watchrun make test', or write a file with --init")
  }

  @Test func `a project above is named, within the repository`() throws {
    let folder = try TemporaryDirectory()
    try folder.write(to: "Makefile")
    try folder.makeDirectories("repository/Sources/Core")
    #expect(NearbyProject(around: folder["repository/Sources/Core"]) == nil)
    try folder.makeDirectories("repository/.git")
    #expect(NearbyProject(around: folder["repository/Sources/Core"]) == nil)
    try folder.write(to: "repository/Package.swift")
    #expect(
      remark(in: "repository/Sources/Core", of: folder).hasSuffix(
        "; there is a Swift package (Package.swift) in ../..: watchrun -C ../.."))
    #expect(NearbyProject(around: folder["repository/Sources"])?.place == Path(".."))
  }

  @Test func `a project within is named, the first of them`() throws {
    let folder = try TemporaryDirectory()
    try folder.makeDirectories("docs")
    try folder.makeDirectories("server")
    try folder.makeDirectories("web")
    try folder.makeDirectories(".hidden")
    try folder.write(to: ".hidden/Makefile")
    try folder.write(to: "web/Cargo.toml")
    try folder.write("{}", to: "server/watchrun.json")
    #expect(
      remark(in: "", of: folder).hasSuffix(
        "; there is watchrun.json in server: watchrun -C server"))
  }
}
