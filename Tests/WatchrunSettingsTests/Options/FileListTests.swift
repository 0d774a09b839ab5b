import FileObservation
import TestSupport
import Testing

@testable import WatchrunSettings

@Suite struct FileListTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    try directory.write(to: "a")
    try directory.write(to: "b c")
    try directory.write(to: "d\ne")
  }

  private func list(_ text: String, separatedByNUL: Bool = false) -> FileList {
    FileList(Array(text.utf8), separatedByNUL: separatedByNUL, in: directory.path)
  }

  @Test func `each line is a path, and the last needs no newline`() {
    #expect(list("a\nb c").watched.map(\.path) == ["a", "b c"])
  }

  @Test func `with NUL, a name may hold a newline`() {
    #expect(list("d\ne\0a\0", separatedByNUL: true).watched.map(\.path) == ["d\ne", "a"])
  }

  @Test func `a path is watched once, under its first name`() {
    #expect(list("./a\na\na\n").watched.map(\.path) == ["./a"])
  }

  @Test func `directories are watched without their subdirectories`() {
    #expect(list(".\n").watched == [WatchedPath(".", isRecursive: false)])
  }

  @Test func `a missing path is reported, and the others are watched`() {
    let list = list("a\nnone\n")
    #expect(list.watched.map(\.path) == ["a"])
    #expect(list.problems == ["cannot watch none: No such file or directory"])
  }

  @Test func `a list without an existing path is refused`() throws {
    try directory.write("none\n", to: "list")
    let failure = #expect(throws: Failure.self) {
      _ = try FileList.read(from: directory["list"], separatedByNUL: false, in: directory.path)
    }
    #expect(failure?.status == 66)
  }
}
