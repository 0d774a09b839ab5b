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
    return found.project(addingVariablesOfFile: true).tasks.map { task in
      task.environment.map {
        String(decoding: $0.name, as: UTF8.self) + "=" + String(decoding: $0.value, as: UTF8.self)
      }
    }
  }

  @Test func `each process has a port of its own`() throws {
    let text = "web: x\nrelease: y\nworker: z\n"
    #expect(try environment(["Procfile": text]) == [["PORT=5000"], ["PORT=5200"]])
    #expect(
      try environment(["Procfile": text, ".env": "PORT=8330\n"]) == [["PORT=8330"], ["PORT=8530"]])
  }

  @Test func `the variables of the file beside it are set`() throws {
    let text = """
      # comment
      A=1
      B='a b'
      C="x\\ny\\"z"
      export D=2
      E=

      """
    #expect(
      try environment(["Procfile": "web: x", ".env": text]) == [
        ["A=1", "B=a b", "C=x\ny\"z", "E=", "PORT=5000"]
      ])
  }

  @Test func `a file that is written has the ports, and nothing of .env`() throws {
    let directory = try projectDirectory(["Procfile": "web: x", ".env": "SECRET=1\n"])
    let text = ProjectText.file(try #require(DetectedProject(directory.project)).project)
    #expect(text.includes("\"PORT\": \"5000\""))
    #expect(!text.includes("SECRET"))
  }

  @Test func `a Procfile can be named in place of a project file`() throws {
    let directory = try projectDirectory([
      "Procfile": "web: x\nworker: y", "Procfile.dev": "web: z", ".env": "A=1",
    ])
    let project = try #require(
      try ProjectSource("Procfile", directory: directory.path).read())
    #expect(project.tasks.map(\.name) == ["web", "worker"])
    #expect(project.tasks[1].environment.count == 2)
    try directory.write("none", to: "Procfile")
    #expect(throws: Failure.self) {
      try ProjectSource("Procfile", directory: directory.path).read()
    }
  }
}
