import ActionRunning
import SystemCalls
import TestSupport
import Testing

@testable import WatchrunSettings

/// What foreman does with a Procfile and its `.env`.
struct ProcessFileTests {
  private func environment(_ files: [String: String]) throws -> [[String]] {
    let directory = try projectDirectory(files)
    let found = try #require(DetectedProject(directory.project))
    return try found.project.readingEnvironmentFiles(in: directory.path).tasks.map { task in
      (task.fileVariables + task.environment).map { "\($0.name.decoded)=\($0.value.decoded)" }
    }
  }

  @Test func `each process has a port of its own`() throws {
    let text = "web: x\nrelease: y\nworker: z\n"
    #expect(try environment(["Procfile": text]) == [["PORT=5000"], ["PORT=5200"]])
    #expect(
      try environment(["Procfile": text, ".env": "PORT=8330\n"]).map(\.last) == [
        "PORT=8330", "PORT=8530",
      ])
  }

  @Test func `the variables of the file beside it are set`() throws {
    #expect(
      try environment(["Procfile": "web: x", ".env": "A=1\nB='a b'\n"]) == [
        ["A=1", "B=a b", "PORT=5000"]
      ])
  }

  @Test func `a file that is written has the ports, and the name of .env`() throws {
    let directory = try projectDirectory(["Procfile": "web: x", ".env": "SECRET=1\n"])
    let text = ProjectText.file(try #require(DetectedProject(directory.project)).project)
    #expect(text.includes("\"PORT\": \"5000\""))
    #expect(text.includes("\"envFile\": \".env\""))
    #expect(!text.includes("SECRET"))
    #expect(try readProject(text).environmentFiles == [".env"])
  }

  @Test func `a Procfile can be named in place of a project file`() throws {
    let directory = try projectDirectory([
      "Procfile": "web: x\nworker: y", "Procfile.dev": "web: z", ".env": "A=1",
    ])
    let project = try #require(
      try ProjectSource("Procfile", directory: directory.path).read())
    #expect(project.tasks.map(\.name) == ["web", "worker"])
    #expect(project.environmentFiles == [".env"])
    try directory.write("none", to: "Procfile")
    #expect(throws: Failure.self) {
      try ProjectSource("Procfile", directory: directory.path).read()
    }
  }
}
