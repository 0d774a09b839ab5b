import SystemCalls
import Testing

/// A project of some size: 40 packages in one another, 2,000 files, four tasks.
@Suite struct ProjectTreeTests {
  private static let tasks = """
    compile: { run: "! grep -rqs BROKEN pkg && echo compile >> $LOG", watch: ["pkg"],
               exts: ["src"] },
    unit: { run: "! grep -rqs FAILING pkg && echo unit >> $LOG", watch: ["pkg"], exts: ["check"],
            after: ["compile"] },
    docs: { run: "echo docs >> $LOG", watch: ["pkg"], exts: ["txt"] },
    bundle: { run: "echo bundle >> $LOG", after: ["unit", "docs"] },
    """

  private func makeTree(_ project: Project) async throws {
    try await project.shell(
      """
      for i in $(seq 8); do for j in $(seq 5); do
        d=pkg/p$i/sub$j/deep; mkdir -p $d/.build
        for k in $(seq 20); do echo text > $d/f$k.src; echo text > $d/f$k.txt; done
        for k in $(seq 9); do echo text > $d/t$k.check; done; echo made > $d/.build/x.src
      done; done
      """)
  }

  /// What has been logged since `count` lines, once there is as much and a wave has ended.
  private func runs(
    _ project: Project, _ watchrun: Watchrun, since count: Int, wave: Int
  ) async throws -> [String] {
    try await eventually("wave \(wave) ends") {
      watchrun.errors.count { $0.hasPrefix("watchrun: ") && $0.contains(" · ") } >= wave
    }
    return Array(project.logged.dropFirst(count))
  }

  @Test func editsBreaksMendsAndRenamesLeadToTheRightRunsInOrder() async throws {
    try await withProject { project in
      try await makeTree(project)
      try project.writeTasks(Self.tasks)
      let watchrun = try await project.startTasks("-d", "100ms")
      var seen = 0
      var wave = 0
      /// Does something, and expects these runs, in this order where it is given by 'after'.
      func expect(_ runs: Set<[String]>, _ change: () async throws -> Void) async throws {
        try await change()
        wave += 1
        let found = try await self.runs(project, watchrun, since: seen, wave: wave)
        seen += found.count
        #expect(runs.contains(found), "wave \(wave): \(found)")
      }
      let deep = "pkg/p3/sub2/deep"
      // At the start, docs runs beside the two that stand after each other.
      try await expect([
        ["compile", "unit", "docs", "bundle"], ["compile", "docs", "unit", "bundle"],
        ["docs", "compile", "unit", "bundle"],
      ]) {}
      // An edit of a source: all that stands after it.
      try await expect([["compile", "unit", "bundle"]]) { try project.place(deep + "/f1.src") }
      // Of a test: only what stands after that.
      try await expect([["unit", "bundle"]]) { try project.place(deep + "/t1.check") }
      try await expect([["docs", "bundle"]]) { try project.place(deep + "/f1.txt") }
      // Broken: nothing is logged, and what stands after it is skipped.
      try await expect([[]]) { try project.place(deep + "/f2.src", "BROKEN\n") }
      try await watchrun.said("watchrun: unit: skipped: compile failed")
      try await watchrun.said("watchrun: bundle: skipped: compile failed")
      // Mended by taking the file away: all is made good.
      try await expect([["compile", "unit", "bundle"]]) { try project.remove(deep + "/f2.src") }
      // What the tools make starts nothing; the rename of a folder does.
      try project.place(deep + "/.build/y.src")
      try await expect([["compile", "unit", "bundle"]]) {
        try project.move(deep + "/f3.src", to: "pkg/p1/renamed.src")
      }
      try await expect([["unit", "bundle"]]) {
        try project.move(deep + "/t2.check", to: "pkg/p1/renamed.check")
      }
      // In the folder's new place, changes are seen as before.
      try project.makeDirectory("pkg/p9")
      try project.move("pkg/p4/sub1", to: "pkg/p9/moved")
      try await eventually("the folder is seen") {
        watchrun.errors.contains { $0.contains("renamed pkg/p9/moved") || $0.contains("moved/") }
      }
      try await eventually("it is quiet") {
        project.logged.last == "bundle" && watchrun.errors.last?.contains(" · ") == true
      }
      seen = project.logged.count
      wave = watchrun.errors.count { $0.hasPrefix("watchrun: ") && $0.contains(" · ") }
      try await expect([["unit", "bundle"]]) { try project.place("pkg/p9/moved/deep/t3.check") }
    }
  }
}
