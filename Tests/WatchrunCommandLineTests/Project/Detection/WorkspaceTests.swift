import TestSupport
import Testing

@testable import WatchrunCommandLine

struct WorkspaceTests {
  private func tasks(_ files: [String: String]) throws -> [String]? {
    let directory = try projectDirectory(
      files.merging([
        "packages/a/package.json": #"{"scripts": {"test": "x"}}"#,
        "packages/b/package.json": #"{"scripts": {"build": "y", "lint": "z"}}"#,
      ]) { $1 })
    let found = DetectedProject(directory.project)
    return found?.project.tasks.map { "\($0.name): \(ProjectText.shown($0.run))" }
  }

  @Test func `the scripts of the members of a workspace are run together`() throws {
    #expect(
      try tasks(["package.json": #"{"workspaces": ["packages/*"]}"#]) == [
        "build: npm run build --workspaces --if-present",
        "test: npm run test --workspaces --if-present",
      ])
    #expect(
      try tasks(["package.json": #"{"workspaces": {"packages": ["packages/a"]}}"#]) == [
        "test: npm run test --workspaces --if-present"
      ])
    #expect(
      try tasks([
        "package.json": "{}", "pnpm-lock.yaml": "",
        "pnpm-workspace.yaml": "packages:\n  - 'packages/*'\n",
      ]) == ["build: pnpm -r run build", "test: pnpm -r run test"])
  }

  @Test func `a script of the workspace itself is preferred`() throws {
    let package = #"{"workspaces": ["packages/*"], "scripts": {"test": "x"}}"#
    #expect(try tasks(["package.json": package]) == ["test: npm run test"])
  }

  @Test func `members without such scripts are no tasks`() throws {
    #expect(try tasks(["package.json": #"{"workspaces": ["tools/*", "../x"]}"#]) == nil)
    #expect(try tasks(["package.json": "{}"]) == nil)
  }
}
