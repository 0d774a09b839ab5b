import FileObservation
import PathFiltering
import Testing

@testable import ActionRunning

struct TaskTriggersTests {
  private func change(
    _ path: Path, _ kind: ChangeBatch.Kind = .modified, type: FileType = .file, from: Path? = nil
  ) -> ChangeBatch.Change {
    ChangeBatch.Change(path: path, kind: kind, type: type, from: from)
  }

  private func patterns(_ lines: String...) -> [GlobPattern] {
    lines.compactMap { GlobPattern(line: $0.utf8) }
  }

  @Test func `a change starts a task that watches its path or an ancestor`() {
    let triggers = TaskTriggers(watched: [
      WatchedPath("/p/Sources"), WatchedPath("/p/flat", isRecursive: false), WatchedPath("/p/one"),
    ])
    let counts = ["/p/Sources/a/b.c", "/p/Sources", "/p/flat/a", "/p/flat", "/p/one"] as [Path]
    for path in counts { #expect(triggers.isTriggered(by: change(path))) }
    let others = ["/p/Sources2/a", "/p", "/p/flat/a/b", "/p/one2"] as [Path]
    for path in others { #expect(!triggers.isTriggered(by: change(path))) }
    #expect(!TaskTriggers().isTriggered(by: change("/p/one")))
  }

  @Test func `only some kinds count, by default all but metadata`() {
    var triggers = TaskTriggers(watched: [WatchedPath("/p")])
    #expect(triggers.isTriggered(by: change("/p/a", .removed, type: .unknown)))
    #expect(!triggers.isTriggered(by: change("/p/a", .metadata)))
    triggers.kinds = [.created]
    #expect(!triggers.isTriggered(by: change("/p/a", .modified)))
  }

  @Test func `a renaming counts for both of its paths`() {
    let triggers = TaskTriggers(watched: [WatchedPath("/p/in")])
    #expect(triggers.isTriggered(by: change("/p/out/a", .renamed, from: "/p/in/a")))
    #expect(triggers.isTriggered(by: change("/p/in/a", .renamed, from: "/p/out/a")))
    #expect(!triggers.isTriggered(by: change("/p/out/a", .renamed, from: "/p/out/b")))
  }

  @Test func `the task's own patterns decide, also those for parent directories`() {
    let filter = PathFilter(
      base: "/p", ignore: patterns("Generated/", "*.tmp", "!keep.tmp"),
      filter: patterns("Sources/**"), extensions: ["swift", "tmp"])
    let triggers = TaskTriggers(watched: [WatchedPath("/p")], filter: filter)
    let counts = ["/p/Sources/a.swift", "/p/Sources/x/keep.tmp"] as [Path]
    for path in counts { #expect(triggers.isTriggered(by: change(path))) }
    let others =
      [
        "/p/Sources/Generated/a.swift", "/p/Sources/a.tmp", "/p/Tests/a.swift", "/p/Sources/a.c",
      ] as [Path]
    for path in others { #expect(!triggers.isTriggered(by: change(path))) }
  }

  @Test func `a renamed or removed directory may contain files that match`() {
    var triggers = TaskTriggers(watched: [WatchedPath("/p")])
    triggers.filter = PathFilter(
      base: "/p", ignore: patterns("out/"), extensions: ["c"])
    let moved = change("/p/b", .renamed, type: .directory, from: "/p/a")
    #expect(triggers.isTriggered(by: moved))
    #expect(triggers.isTriggered(by: change("/p/a", .removed, type: .directory)))
    #expect(!triggers.isTriggered(by: change("/p/a", .created, type: .directory)))
    #expect(!triggers.isTriggered(by: change("/p/out", .removed, type: .directory)))
    #expect(!triggers.isTriggered(by: change("/p/b.h", .renamed, from: "/p/a.h")))
  }

  @Test func `a task receives only its own changes`() {
    let triggers = TaskTriggers(watched: [WatchedPath("/p/a")])
    #expect(triggers.changes(in: [change("/p/b"), change("/p/a/x")]).map(\.path) == ["/p/a/x"])
    #expect(triggers.changes(in: [change("/p/b")]).isEmpty)
    #expect(TaskTriggers.all.changes(in: [change("/p/b", .metadata)]).count == 1)
  }

  @Test func `what a task declares to write does not start it`() {
    var triggers = TaskTriggers(watched: [WatchedPath("/p")], filter: PathFilter(base: "/p"))
    triggers.writes = DeclaredWrites(patterns("build-info.txt", "log/**", "!keep"), base: "/p")
    let written = ["/p/build-info.txt", "/p/a/build-info.txt", "/p/log/x", "/p/log/a/b"] as [Path]
    for path in written {
      #expect(!triggers.isTriggered(by: change(path)))
      #expect(triggers.isWatched(change(path)))
    }
    let others = ["/p/a", "/p/a/log/x", "/p/log/keep", "/p/log"] as [Path]
    for path in others { #expect(triggers.isTriggered(by: change(path))) }
    #expect(!triggers.isWatched(change("/q/log/x")))
  }

  @Test func `a directory of which all entries are written is written`() {
    var triggers = TaskTriggers(watched: [WatchedPath("/p")])
    triggers.writes = DeclaredWrites(patterns("log/**", "out/", "doc/*.html"), base: "/p")
    // The type of what was removed is not known.
    for (kind, type) in [(ChangeBatch.Kind.created, FileType.directory), (.removed, .unknown)] {
      for path in ["/p/log", "/p/out", "/p/out/a"] as [Path] {
        #expect(!triggers.isTriggered(by: change(path, kind, type: type)))
      }
      #expect(triggers.isTriggered(by: change("/p/doc", kind, type: type)))
      #expect(triggers.isTriggered(by: change("/p/a/log", kind, type: type)))
    }
  }

  @Test func `what is renamed between two written paths starts nothing`() {
    var triggers = TaskTriggers(watched: [WatchedPath("/p")])
    triggers.writes = DeclaredWrites(patterns("info*"), base: "/p")
    #expect(!triggers.isTriggered(by: change("/p/info", .renamed, from: "/p/info.tmp")))
    #expect(triggers.isTriggered(by: change("/p/info", .renamed, from: "/p/source")))
    #expect(triggers.isTriggered(by: change("/p/source", .renamed, from: "/p/info")))
    // Of a rename out of what is watched, only the former path counts.
    #expect(!triggers.isTriggered(by: change("/q/info", .renamed, from: "/p/info")))
  }

  @Test func `a file that is watched by its name may be written, also outside of the base`() {
    var triggers = TaskTriggers(watched: [WatchedPath("/p/info"), WatchedPath("/q/log")])
    triggers.writes = DeclaredWrites(patterns("info", "log/", "work/"), base: "/p")
    #expect(!triggers.isTriggered(by: change("/p/info")))
    #expect(!triggers.isTriggered(by: change("/q/log/x")))
    triggers.watched = [WatchedPath("/work/q")]
    #expect(triggers.isTriggered(by: change("/work/q/x")))
  }

  @Test func `a task that every change starts declares what it writes, too`() {
    var triggers = TaskTriggers.all
    triggers.writes = DeclaredWrites(patterns("log/**"), base: "/p")
    #expect(triggers.changes(in: [change("/p/log/x"), change("/p/a")]).map(\.path) == ["/p/a"])
    #expect(triggers.isTriggered(by: change("/p/a", .metadata)))
  }
}
