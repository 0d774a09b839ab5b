import FileObservation
import SystemCalls
import TestSupport
import Testing

struct TreeMirrorTests {
  private static func change(
    _ kind: ChangeBatch.Kind, _ path: Path, from: Path? = nil
  ) -> ChangeBatch.Change {
    ChangeBatch.Change(path: path, kind: kind, type: .unknown, from: from)
  }

  @Test func `a mirror that follows all changes is equal to a new one`() throws {
    let directory = try TemporaryDirectory()
    try directory.makeDirectories("a/b")
    try directory.write("1", to: "a/b/f")
    try directory.write("2", to: "g")
    try directory.link("l", to: "g")
    var mirror = try TreeMirror(of: directory.path)
    #expect(mirror.nodes[directory["a/b/f"]] == .file(content: Array("1".utf8)))
    #expect(mirror.nodes[directory["l"]] == .symlink(target: Array("g".utf8)))

    try directory.rename("a", to: "c")
    try directory.write("3", to: "c/b/f")
    try directory.remove("g")
    try directory.makeDirectories("n")
    try directory.write("4", to: "n/h")
    let changes = [
      Self.change(.renamed, directory["c"], from: directory["a"]),
      Self.change(.modified, directory["c/b/f"]), Self.change(.removed, directory["g"]),
      Self.change(.created, directory["n"]), Self.change(.created, directory["n/h"]),
    ]
    try mirror.apply([ChangeBatch(number: 1, changes: changes)], trusting: .eachPathIsTold)
    #expect(mirror.differences(from: try TreeMirror(of: directory.path)) == [])
  }

  @Test func `a directory that was made in one burst is renamed in the next`() throws {
    let directory = try TemporaryDirectory()
    try directory.makeDirectories("a")
    try directory.write("1", to: "a/f")
    var mirror = try TreeMirror(of: directory.path)
    try directory.makeDirectories("c")
    try File.exchange(directory["a"], directory["c"])
    try directory.rename("a", to: "d")
    let renames = [
      Self.change(.renamed, directory["c"], from: directory["a"]),
      Self.change(.renamed, directory["d"], from: directory["c"]),
    ]
    try mirror.apply(
      [
        ChangeBatch(number: 1, changes: [Self.change(.created, directory["c"])]),
        ChangeBatch(number: 2, changes: renames),
      ], trusting: .onlyWhatIsReported)
    #expect(mirror.differences(from: try TreeMirror(of: directory.path)) == [])
  }

  @Test func `each change that is not reported is a difference`() throws {
    let directory = try TemporaryDirectory()
    for name in ["f", "g", "h"] { try directory.write("old", to: name) }
    var mirror = try TreeMirror(of: directory.path)
    try directory.write("new", to: "f")
    try directory.remove("g")
    try directory.makeDirectories("n")
    try directory.write("x", to: "n/i")
    try directory.rename("h", to: "j")
    try mirror.apply(
      [
        ChangeBatch(number: 1, changes: [Self.change(.created, directory["n"])]),
        ChangeBatch(number: 2, changes: [Self.change(.created, directory["never"])]),
      ], trusting: .eachPathIsTold)
    let differences = mirror.differences(from: try TreeMirror(of: directory.path))
    #expect(
      differences == [
        "\(directory["f"]): is a file of 'new', not a file of 'old'",
        "\(directory["g"]): is nothing, not a file of 'old'",
        "\(directory["h"]): is nothing, not a file of 'old'",
        "\(directory["j"]): is a file of 'old', not nothing",
        "\(directory["n/i"]): is a file of 'x', not nothing",
      ])
  }

  @Test func `a reported directory may be read`() throws {
    let directory = try TemporaryDirectory()
    var mirror = try TreeMirror(of: directory.path)
    try directory.makeDirectories("n")
    try directory.write("x", to: "n/i")
    let batch = ChangeBatch(number: 1, changes: [Self.change(.created, directory["n"])])
    try mirror.apply([batch], trusting: .directoriesAreRead)
    #expect(mirror.differences(from: try TreeMirror(of: directory.path)) == [])
  }
}
